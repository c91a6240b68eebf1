/**
 * What can be said of an image before it is decoded. What passes is small enough to be decoded.
 */
import * as Either from "effect/Either"
import { AttachmentError } from "../Attachments.ts"
import type { ImageErrorCode, ImageInput, Limits } from "../Attachments.ts"
import * as ImageHeader from "./ImageHeader.ts"

export interface Checked {
  readonly bytes: Buffer
  readonly header: ImageHeader.ImageHeader
  readonly name: string
}

/** All of them, or what is wrong with the first that is refused. */
export const all = (
  images: ReadonlyArray<ImageInput>,
  limits: Limits
): Either.Either<ReadonlyArray<Checked>, AttachmentError> =>
  Either.gen(function* () {
    if (images.length > limits.maxImages) {
      return yield* refuse(
        "TOO_MANY_IMAGES",
        `there are ${images.length} images; at most ${limits.maxImages} go at once`
      )
    }
    const checked = yield* Either.all(images.map((image, i) => one(image, image.name ?? `image ${i + 1}`, limits)))
    const total = checked.reduce((sum, { bytes }) => sum + bytes.length, 0)
    if (total > limits.maxTotalBytes) {
      return yield* refuse(
        "IMAGES_TOO_LARGE",
        `the images have ${total} bytes; at most ${limits.maxTotalBytes} go at once`
      )
    }
    return checked
  })

const one = (image: ImageInput, name: string, limits: Limits): Either.Either<Checked, AttachmentError> =>
  Either.gen(function* () {
    const bytes = yield* bytesOf(image, name, limits)
    if (bytes.length > limits.maxBytes) return yield* tooLarge(name, bytes.length, limits)
    const kind = ImageHeader.kindOf(bytes)
    if (kind === undefined) return yield* unsupported(name, ImageHeader.otherKind(bytes))
    const said = image.mediaType?.toLowerCase().replace("image/jpg", "image/jpeg")
    if (said !== undefined && said !== kind) {
      return yield* refuse("IMAGE_TYPE_MISMATCH", `${name} is said to be ${said} and is ${kind}; name it by what it is`)
    }
    const header = ImageHeader.parse(bytes, kind)
    if (header === undefined) return yield* refuse("INVALID_IMAGE", `${name} is damaged: its header cannot be read`)
    const { height, width } = header
    if (width * height > limits.maxPixels) {
      const message = `${name} is ${width}x${height}; at most ${limits.maxPixels} pixels are taken, so shrink it first`
      return yield* refuse("IMAGE_TOO_MANY_PIXELS", message)
    }
    if (Math.max(width, height) > limits.maxSide) {
      const message = `${name} is ${width}x${height}; no side may have more than ${limits.maxSide} pixels, so shrink or cut it first`
      return yield* refuse("IMAGE_DIMENSION_TOO_LARGE", message)
    }
    return { bytes, header, name }
  })

const bytesOf = ({ data }: ImageInput, name: string, limits: Limits): Either.Either<Buffer, AttachmentError> => {
  if (typeof data !== "string") return Either.right(Buffer.from(data.buffer, data.byteOffset, data.byteLength))
  if (data.length > Math.ceil(limits.maxBytes / 3) * 4) return tooLarge(name, Math.floor((data.length * 3) / 4), limits)
  const bytes = Buffer.from(data, "base64")
  return bytes.toString("base64") === data
    ? Either.right(bytes)
    : refuse("INVALID_IMAGE_BASE64", `${name} is not valid base64: letters, digits, + and /, padded with =`)
}

const tooLarge = (name: string, bytes: number, { maxBytes }: Limits) =>
  refuse("IMAGE_TOO_LARGE", `${name} has ${bytes} bytes; at most ${maxBytes} are taken, so shrink it first`)

const unsupported = (name: string, kind: string | undefined) => {
  const how =
    kind === "HEIC" || kind === "AVIF"
      ? `; convert it first: sips -s format jpeg IN --out OUT.jpg on macOS, heif-convert IN OUT.jpg or magick IN OUT.jpg elsewhere`
      : kind === "HTML"
        ? "; it may be the error page of a download"
        : "; convert it first, for instance with magick"
  const what = kind === undefined ? "no image that is known" : `${kind}, which is not taken`
  return refuse("UNSUPPORTED_IMAGE_TYPE", `${name} is ${what}; PNG, JPEG, WebP and GIF are${how}`)
}

const refuse = (code: ImageErrorCode, message: string) => Either.left(new AttachmentError({ code, message }))
