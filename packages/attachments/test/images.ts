/**
 * Images of every kind, made for tests.
 */
import { PhotonImage } from "@silvia-odwyer/photon-node"
import { crc32, deflateSync } from "node:zlib"

type Color = readonly [red: number, green: number, blue: number, alpha: number]

/** A picture whose left half is red and whose right half is `right`. */
export const picture = (width: number, height: number, right: Color = [0, 0, 255, 255]): PhotonImage => {
  const pixels = new Uint8Array(width * height * 4)
  for (let at = 0; at < width * height; at++) pixels.set(at % width < width / 2 ? [255, 0, 0, 255] : right, at * 4)
  return new PhotonImage(pixels, width, height)
}

/** One that no encoding can shrink. */
export const noise = (width: number, height: number): PhotonImage => {
  const pixels = new Uint8Array(width * height * 4)
  let state = 1
  for (let at = 0; at < pixels.length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    pixels[at] = at % 4 === 3 ? 255 : state >>> 24
  }
  return new PhotonImage(pixels, width, height)
}

export const png = (image: PhotonImage): Buffer => Buffer.from(image.get_bytes())
export const jpeg = (image: PhotonImage): Buffer => Buffer.from(image.get_bytes_jpeg(90))
export const webp = (image: PhotonImage): Buffer => Buffer.from(image.get_bytes_webp())

/** A picture whose upper left quarter is white. */
export const cornered = (width: number, height: number): PhotonImage => {
  const pixels = new Uint8Array(width * height * 4)
  for (let at = 0; at < width * height; at++) {
    const isCorner = at % width < width / 2 && at < (width * height) / 2
    pixels.set(isCorner ? [255, 255, 255, 255] : [0, 0, 0, 255], at * 4)
  }
  return new PhotonImage(pixels, width, height)
}

/** Its size, the colour near its left side, and the corner that is bright. */
export const seen = (bytes: Uint8Array) => {
  const image = PhotonImage.new_from_byteslice(bytes)
  const [width, height] = [image.get_width(), image.get_height()]
  const pixels = image.get_raw_pixels()
  const at = (x: number, y: number) => {
    const start = (Math.floor(y * (height - 1)) * width + Math.floor(x * (width - 1))) * 4
    return pixels.subarray(start, start + 3)
  }
  const corners = {
    "upper left": at(0.2, 0.2),
    "upper right": at(0.8, 0.2),
    "lower left": at(0.2, 0.8),
    "lower right": at(0.8, 0.8)
  }
  const bright = Object.entries(corners).flatMap(([name, color]) => (color.every((value) => value > 200) ? [name] : []))
  const [red = 0, , blue = 0] = at(0.1, 0.5)
  return { width, height, left: red > blue ? "red" : "blue", bright }
}

/** What Exif says of an orientation, as a JPEG segment. */
const exif = (orientation: number): Buffer => {
  const tiff = Buffer.from("4d4d002a00000008000101120003000000010000000000000000", "hex")
  tiff.writeUInt16BE(orientation, 18)
  const body = Buffer.concat([Buffer.from("Exif\0\0", "latin1"), tiff])
  const head = Buffer.from([0xff, 0xe1, 0, 0])
  head.writeUInt16BE(body.length + 2, 2)
  return Buffer.concat([head, body])
}

export const turned = (bytes: Buffer, orientation: number): Buffer =>
  Buffer.concat([bytes.subarray(0, 2), exif(orientation), bytes.subarray(2)])

const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data])
  const out = Buffer.alloc(body.length + 8)
  out.writeUInt32BE(data.length, 0)
  body.copy(out, 4)
  out.writeUInt32BE(crc32(body), body.length + 4)
  return out
}

/** A PNG that says it is that large, and holds `data`. */
export const rawPng = (width: number, height: number, depth: number, colors: number, data: Uint8Array): Buffer => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([depth, colors], 8)
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(data)),
    chunk("IEND", Buffer.alloc(0))
  ])
}

/** With a text that nobody asked for. */
export const withText = (bytes: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, 33), chunk("tEXt", Buffer.from("Author\0somebody")), bytes.subarray(33)])

/** Two frames of one pixel: red, then blue. */
export const gif = Buffer.from(
  "47494638396101000100800000ff00000000ff21f90400000000002c00000000010001000002024401" +
    "0021f90400000000002c00000000010001000002024c01003b",
  "hex"
)
