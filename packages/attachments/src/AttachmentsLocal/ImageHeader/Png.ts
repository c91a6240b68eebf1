/**
 * The chunks of a PNG.
 */
import * as Exif from "./Exif.ts"

/** What the picture is made of; every other chunk says something about it. */
const picture = new Set(["IHDR", "PLTE", "tRNS", "IDAT", "IEND", "sRGB", "gAMA", "cHRM", "pHYs", "bKGD", "sBIT"])

export const read = (bytes: Buffer) => {
  if (bytes.length < 33 || bytes.toString("latin1", 12, 16) !== "IHDR") return undefined
  let orientation = 1
  let isClean = bytes[24] === 8 || (bytes[24] ?? 0) < 8
  for (let at = 8; at < bytes.length;) {
    if (at + 12 > bytes.length) return { ...size(bytes), orientation, isClean: false }
    const length = bytes.readUInt32BE(at)
    const type = bytes.toString("latin1", at + 4, at + 8)
    if (!picture.has(type)) isClean = false
    if (type === "eXIf") orientation = Exif.orientation(bytes.subarray(at + 8, at + 8 + length)) ?? 1
    at += 12 + length
    if (type !== "IEND") continue
    return { ...size(bytes), orientation, isClean: isClean && at === bytes.length }
  }
  return { ...size(bytes), orientation, isClean: false }
}

const size = (bytes: Buffer) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) })
