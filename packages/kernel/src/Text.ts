/**
 * Bounding text without ever cutting a code point: limits in UTF-8 bytes or UTF-16 units, from either end.
 */

const encoder = new TextEncoder()

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** The UTF-8 size of `text` in bytes; a lone surrogate counts as U+FFFD does (3). */
export const byteLength = (text: string): number => {
  let bytes = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) bytes += 1
    else if (unit < 0x800) bytes += 2
    else if (isHigh(unit) && i + 1 < text.length && isLow(text.charCodeAt(i + 1))) {
      bytes += 4
      i++
    } else bytes += 3
  }
  return bytes
}

/** The longest prefix of at most `maxUnits` UTF-16 units that does not end inside a surrogate pair. */
export const head = (text: string, maxUnits: number): string => {
  if (text.length <= maxUnits) return text
  const end = Math.max(0, Math.floor(maxUnits))
  return text.slice(0, end > 0 && isHigh(text.charCodeAt(end - 1)) && isLow(text.charCodeAt(end)) ? end - 1 : end)
}

/** The longest suffix of at most `maxUnits` UTF-16 units that does not begin inside a surrogate pair. */
export const tail = (text: string, maxUnits: number): string => {
  if (text.length <= maxUnits) return text
  const start = text.length - Math.max(0, Math.floor(maxUnits))
  return text.slice(
    start < text.length && isLow(text.charCodeAt(start)) && isHigh(text.charCodeAt(start - 1)) ? start + 1 : start
  )
}

/** The longest prefix of at most `maxBytes` UTF-8 bytes. */
export const headBytes = (text: string, maxBytes: number): string => {
  if (text.length * 3 <= maxBytes) return text
  const { read } = encoder.encodeInto(text, new Uint8Array(Math.max(0, Math.floor(maxBytes))))
  return text.slice(0, read)
}

/** The longest suffix of at most `maxBytes` UTF-8 bytes. */
export const tailBytes = (text: string, maxBytes: number): string => {
  let bytes = 0
  let start = text.length
  while (start > 0) {
    const unit = text.charCodeAt(start - 1)
    const pair = isLow(unit) && start > 1 && isHigh(text.charCodeAt(start - 2))
    bytes += pair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3
    if (bytes > maxBytes) break
    start -= pair ? 2 : 1
  }
  return text.slice(start)
}

/** What is kept of a text that is too long. */
export interface Retained {
  readonly head: string
  readonly tail: string
  /** Bytes of UTF-8 between the two. */
  readonly omittedBytes: number
}

/** The beginning and the end of `text`, of as many UTF-8 bytes at most. All of it is `head` when nothing would be left out. */
export const retainBytes = (text: string, headMax: number, tailMax: number): Retained => {
  const bytes = byteLength(text)
  if (bytes <= headMax + tailMax) return { head: text, tail: "", omittedBytes: 0 }
  const head = headBytes(text, headMax)
  const tail = tailBytes(text, tailMax)
  return { head, tail, omittedBytes: bytes - byteLength(head) - byteLength(tail) }
}

/** `text` itself when it fits, else its first units and an ellipsis, `maxUnits` in all. */
export const ellipsis = (text: string, maxUnits: number): string => {
  if (text.length <= maxUnits) return text
  return maxUnits < 1 ? "" : `${head(text, maxUnits - 1)}…`
}

const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g

/** Every lone surrogate becomes U+FFFD: what a UTF-8 encoder would do, done where it can be seen. */
export const wellFormed = (text: string): string => text.replace(loneSurrogate, "\uFFFD")
