/** The program of a worker thread that does one `Job`, posts one `Answer` and ends. */
export const program: string

/** What it gets as `workerData`. */
export interface Job {
  /** A PNG, JPEG, WebP or GIF. Whoever makes the job has checked how large it says it is. */
  readonly bytes: Uint8Array
  /** From 1 to 8, as Exif has it: how the pixels are to be turned to be seen upright. */
  readonly orientation: number
  /** Of the result, in pixels. */
  readonly maxEdge: number
  /** Of the result, in bytes. */
  readonly maxBytes: number
  /** The bytes are fine as they are, if they can be decoded and are not too large. */
  readonly isClean: boolean
  /** What a photograph is encoded as, and everything else. */
  readonly format: "jpeg" | "png"
}

/** `size` is that of the picture before it was shrunk, upright; `bytes` is null where those of the job are fine. */
export type Answer =
  | {
      readonly kind: "done"
      readonly bytes: Uint8Array | null
      readonly mediaType: "image/jpeg" | "image/png" | null
      readonly width: number
      readonly height: number
      readonly originalWidth: number
      readonly originalHeight: number
    }
  | { readonly kind: "undecodable"; readonly reason: string }
  | { readonly kind: "too-large" }
