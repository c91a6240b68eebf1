/**
 * The segments of a JPEG up to the picture.
 */
import * as Exif from "./Exif.ts"

const startOfScan = 0xda

export const read = (bytes: Buffer) => {
  let size: { readonly width: number; readonly height: number } | undefined
  let orientation = 1
  let isClean = true
  for (let at = 2; at + 4 <= bytes.length;) {
    if (bytes[at] !== 0xff) return undefined
    const marker = bytes[at + 1]!
    // Padding, and markers that stand alone.
    if (marker === 0xff) {
      at++
      continue
    }
    const length = bytes.readUInt16BE(at + 2)
    const body = bytes.subarray(at + 4, at + 2 + length)
    if (isFrame(marker) && body.length >= 6) {
      size = { height: body.readUInt16BE(1), width: body.readUInt16BE(3) }
      // Four components are for printing, and eight bits are what everybody shows.
      if (body[0] !== 8 || body[5] === 4) isClean = false
    }
    if (marker === 0xe1 && body.toString("latin1", 0, 6) === "Exif\0\0") {
      orientation = Exif.orientation(body.subarray(6)) ?? orientation
    }
    // Application segments other than that of JFIF, and comments.
    if ((marker > 0xe0 && marker <= 0xef) || marker === 0xfe) isClean = false
    if (marker === startOfScan) {
      return size && { ...size, orientation, isClean: isClean && bytes.readUInt16BE(bytes.length - 2) === 0xffd9 }
    }
    at += 2 + Math.max(2, length)
  }
  return size && { ...size, orientation, isClean: false }
}

/** Of whatever coding; three markers of that range are something else. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
