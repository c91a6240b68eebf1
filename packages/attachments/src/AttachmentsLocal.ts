/**
 * `Attachments` in a folder of this machine.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Attachments, limits } from "./Attachments.ts"
import type { Limits, SavedImage } from "./Attachments.ts"
import * as Normalize from "./AttachmentsLocal/Normalize.ts"
import * as Objects from "./AttachmentsLocal/Objects.ts"
import * as Validate from "./AttachmentsLocal/Validate.ts"

export interface Options {
  /** The folder, made when it is needed; absolute. What is in it is kept for ever. */
  readonly root: string
  /** How many images are decoded at once, from 1 to 8. Default 2. */
  readonly concurrency?: number
  /** The worker that decodes, as `@dsh/image-codec` describes it; absolute path. Default: that package's own. */
  readonly program?: string
  /** Default: those of the seam. */
  readonly limits?: Partial<Limits>
}

export const make = (options: Options): Effect.Effect<Attachments["Type"]> =>
  Effect.map(Effect.makeSemaphore(Math.min(8, Math.max(1, options.concurrency ?? 2))), (codecs) => {
    const { root } = options
    const held: Limits = { ...limits, ...options.limits }
    return Attachments.of({
      limits: held,
      saveImages: (images) =>
        Effect.gen(function* () {
          const checked = yield* Validate.all(images, held)
          const normalized = yield* Effect.forEach(
            checked,
            (image) => codecs.withPermits(1)(Normalize.normalize(image, options.program)),
            { concurrency: "unbounded" }
          )
          return yield* Effect.forEach(normalized, (image, i) => keep(root, image, checked[i]!))
        }),
      read: (id) => Objects.read(root, id)
    })
  })

export const layer = (options: Options): Layer.Layer<Attachments> => Layer.effect(Attachments, make(options))

const keep = (
  root: string,
  { bytes, height, mediaType, originalHeight, originalWidth, width }: Normalize.Normalized,
  { header }: Validate.Checked
) =>
  Effect.map(Objects.write(root, bytes), (id): SavedImage => ({
    ref: { id, mediaType, bytes: bytes.length, width, height },
    original: { mediaType: header.mediaType, width: originalWidth, height: originalHeight }
  }))
