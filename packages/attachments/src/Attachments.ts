/**
 * The seam where images are kept. Messages hold references, the store holds the bytes, and a reference names its bytes by their hash:
 * whoever has the log knows what was sent, whether the store is at hand or not.
 */
import type { AttachmentRef } from "@dsh/protocol/Block"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** The codes of what whoever gave the image can put right. */
export type ImageErrorCode =
  | "TOO_MANY_IMAGES"
  | "IMAGES_TOO_LARGE"
  | "UNSUPPORTED_IMAGE_TYPE"
  | "INVALID_IMAGE_BASE64"
  | "INVALID_IMAGE"
  | "IMAGE_TYPE_MISMATCH"
  | "IMAGE_TOO_LARGE"
  | "IMAGE_TOO_MANY_PIXELS"
  | "IMAGE_DIMENSION_TOO_LARGE"

/** The codes of what is wrong with the store, or with what a log says of it. */
export type StoreErrorCode =
  | "INVALID_ATTACHMENT_REF"
  | "ATTACHMENT_CORRUPT"
  | "ATTACHMENT_WRITE_FAILED"
  | "ATTACHMENT_NOT_FOUND"
  | "ATTACHMENT_READ_FAILED"
  | "ATTACHMENT_PROJECTION_UNSUPPORTED"

export class AttachmentError extends Data.TaggedError("AttachmentError")<{
  readonly code: ImageErrorCode | StoreErrorCode
  readonly message: string
  readonly cause?: unknown
}> {}

/** Media types that can be kept, and nothing else. */
export const mediaTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"] as const

export type MediaType = (typeof mediaTypes)[number]

/** An image as somebody gives it. */
export interface ImageInput {
  /** The file, or its canonical base64. */
  readonly data: Uint8Array | string
  /** What it is said to be; then it has to be that. */
  readonly mediaType?: string
  /** What messages call it: a file name, a number. */
  readonly name?: string
}

export interface SavedImage {
  readonly ref: AttachmentRef & { readonly width: number; readonly height: number }
  /** Before it was shrunk, upright; in pixels. */
  readonly original: { readonly mediaType: MediaType; readonly width: number; readonly height: number }
}

export interface Limits {
  /** Of one call. */
  readonly maxImages: number
  /** Bytes of all images of one call. */
  readonly maxTotalBytes: number
  /** Of an image that is given, in bytes. */
  readonly maxBytes: number
  readonly maxPixels: number
  /** Of either side, in pixels. Wide screenshots and long pages are shrunk, not refused: it is `maxPixels` that bounds memory. */
  readonly maxSide: number
}

export const limits: Limits = {
  maxImages: 20,
  maxTotalBytes: 200 * 1024 * 1024,
  maxBytes: 20 * 1024 * 1024,
  maxPixels: 64_000_000,
  maxSide: 32_768
}

export class Attachments extends Context.Tag("@dsh/attachments/Attachments")<
  Attachments,
  {
    readonly limits: Limits
    /**
     * Checks all images, then keeps them, shrunk and without metadata where they need it: what is kept has no side longer than 2048
     * pixels and no more than 4 MiB. Of moving pictures the first is kept. If one of them is refused, none is kept. Interruption stops
     * at once.
     */
    readonly saveImages: (
      images: ReadonlyArray<ImageInput>
    ) => Effect.Effect<ReadonlyArray<SavedImage>, AttachmentError>
    /** The bytes that `id`, as references have it, names; `ATTACHMENT_CORRUPT` if they are not those any more. */
    readonly read: (id: string) => Effect.Effect<Uint8Array, AttachmentError>
  }
>() {}

const idPattern = /^sha256:[0-9a-f]{64}$/

/** Whether `id` is one of ours. */
export const isId = (id: string): boolean => idPattern.test(id)
