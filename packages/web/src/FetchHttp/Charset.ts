/**
 * From bytes to text, as a browser would read them: a byte order mark counts before the header, the header before what the page says of
 * itself, and what says nothing is UTF-8 where it can be.
 */
import type { ContentType } from "./ContentType.ts"

/** As far as a page is looked into for its encoding. */
const prescan = 1024

export const decode = (bytes: Uint8Array, type: ContentType, isCut: boolean): string => {
  const label = markOf(bytes) ?? usable(type.charset) ?? declared(bytes, type)
  // The end of what is cut may be the middle of a character.
  if (label !== undefined) return read(bytes, label, isCut)
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut })
  } catch {
    return read(bytes, type.kind === "html" ? western : "utf-8", isCut)
  }
}

/** What old pages are in that do not say so, and what the web means by ISO-8859-1. */
const western = "windows-1252"

/** 0x80 to 0x9F in it. */
const typographic = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

const read = (bytes: Uint8Array, label: string, isCut: boolean): string => {
  const decoder = new TextDecoder(label)
  const text = decoder.decode(bytes, { stream: isCut })
  // Some versions of Node take it for Latin-1, which has control characters there.
  return decoder.encoding === western
    ? text.replaceAll(/[\u0080-\u009f]/g, (control) => typographic[control.charCodeAt(0) - 0x80] ?? control)
    : text
}

const markOf = ([first, second, third]: Uint8Array): string | undefined => {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8"
  if (first === 0xfe && second === 0xff) return "utf-16be"
  return first === 0xff && second === 0xfe ? "utf-16le" : undefined
}

/** A name that means nothing counts as none. */
const usable = (label: string | undefined): string | undefined => {
  if (label === undefined) return undefined
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}

/** `<meta charset="gbk">`, `<meta http-equiv="content-type" content="text/html; charset=gbk">`, `<?xml … encoding="gbk"?>` */
const declared = (bytes: Uint8Array, { isXml, kind }: ContentType): string | undefined => {
  if (kind !== "html" && !isXml) return undefined
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, prescan)).toString("latin1")
  const written = start.replaceAll(/<!--[^]*?(?:-->|$)/g, "")
  const xml = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([^"']+)/i.exec(written)?.[1]
  const html = kind === "html" ? /<meta\s[^>]*?charset\s*=\s*["']?\s*([^"'\s/>;]+)/i.exec(written)?.[1] : undefined
  const label = usable(xml) ?? usable(html)
  // It was read as one byte per character to get here, so it is not that.
  return label?.startsWith("utf-16") === true ? "utf-8" : label
}
