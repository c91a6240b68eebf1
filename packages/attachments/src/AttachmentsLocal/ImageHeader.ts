/**
 * What an image says of itself in its first bytes, before anything is decoded: what it is, how large, and whether there is more in it
 * than the picture.
 */
import type { MediaType } from "../Attachments.ts"
import * as Gif from "./ImageHeader/Gif.ts"
import * as Jpeg from "./ImageHeader/Jpeg.ts"
import * as Png from "./ImageHeader/Png.ts"
import * as Webp from "./ImageHeader/Webp.ts"

export interface ImageHeader {
  readonly mediaType: MediaType
  readonly width: number
  readonly height: number
  /** From 1 to 8, as Exif has it; 1 is upright. */
  readonly orientation: number
  /** Nothing but one picture of eight bits a channel: no metadata, no colour profile, no animation, nothing behind its end. */
  readonly isClean: boolean
}

export const ascii = (bytes: Buffer, start: number, end: number): string => bytes.toString("latin1", start, end)

/** Of which kind the bytes are; undefined if it is none that we take. */
export const kindOf = (bytes: Buffer): MediaType | undefined => {
  if (ascii(bytes, 0, 8) === "\x89PNG\r\n\x1a\n") return "image/png"
  if (ascii(bytes, 0, 3) === "\xff\xd8\xff") return "image/jpeg"
  if (ascii(bytes, 0, 4) === "RIFF" && ascii(bytes, 8, 12) === "WEBP") return "image/webp"
  return /^GIF8[79]a$/.test(ascii(bytes, 0, 6)) ? "image/gif" : undefined
}

/** Undefined if the header is not all there. */
export const parse = (bytes: Buffer, mediaType: MediaType): ImageHeader | undefined => {
  const found = readers[mediaType](bytes)
  return found !== undefined && found.width > 0 && found.height > 0 ? { mediaType, ...found } : undefined
}

const readers: Readonly<Record<MediaType, (bytes: Buffer) => Omit<ImageHeader, "mediaType"> | undefined>> = {
  "image/png": Png.read,
  "image/jpeg": Jpeg.read,
  "image/webp": Webp.read,
  "image/gif": Gif.read
}

/** What a file that we do not take most likely is, for a message. */
export const otherKind = (bytes: Buffer): string | undefined => {
  const brand = ascii(bytes, 4, 8) === "ftyp" ? ascii(bytes, 8, 12) : ""
  if (/^(hei[cxms]|hev[cxms]|mif1|msf1)$/.test(brand)) return "HEIC"
  if (/^avi[fs]$/.test(brand)) return "AVIF"
  const start = ascii(bytes, 0, 512).trimStart().toLowerCase()
  if (/^(<!doctype html|<html)/.test(start)) return "HTML"
  if (/^(<\?xml|<svg)/.test(start) && ascii(bytes, 0, 2048).includes("<svg")) return "SVG"
  if (start.startsWith("%pdf-")) return "PDF"
  if (/^(II\*\0|MM\0\*)/.test(ascii(bytes, 0, 4))) return "TIFF"
  return ascii(bytes, 0, 2) === "BM" ? "BMP" : undefined
}
