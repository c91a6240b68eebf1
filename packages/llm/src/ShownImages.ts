/**
 * The images of a request, for adapters that send them.
 */
import { isId, mediaTypes } from "@dsh/attachments/Attachments"
import type { Attachments } from "@dsh/attachments/Attachments"
import type { ContentBlock, ImageBlock } from "@dsh/protocol/Block"
import { showsImages } from "@dsh/protocol/Request"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { LlmRequest } from "./LlmAdapter.ts"

/** A reference that can be sent. What another store made, or somebody wrote into the log, is described in words. */
export const isSendable = (block: ContentBlock): block is ImageBlock =>
  block.type === "image" &&
  isId(block.attachment.id) &&
  mediaTypes.some((mediaType) => mediaType === block.attachment.mediaType)

/** Base64 by the id of the image. */
export type ShownImages = ReadonlyMap<string, string>

/** Those of `request`; none where its header shows none to the model. An image that cannot be had is left out. */
export const of = (
  { header, messages }: Pick<LlmRequest, "header" | "messages">,
  attachments: Attachments["Type"] | undefined
): Effect.Effect<ShownImages> =>
  Effect.gen(function* () {
    const shown = new Map<string, string>()
    if (attachments === undefined || !showsImages(header)) return shown
    for (const { attachment } of messages.flatMap(({ content }) => imagesIn(content))) {
      if (shown.has(attachment.id)) continue
      const bytes = yield* Effect.either(attachments.read(attachment.id))
      if (Either.isRight(bytes)) shown.set(attachment.id, base64(bytes.right))
    }
    return shown
  })

export const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")

const imagesIn = (content: ReadonlyArray<ContentBlock>): ReadonlyArray<ImageBlock> =>
  content.flatMap((block) =>
    block.type === "tool-result" ? imagesIn(block.content) : isSendable(block) ? [block] : []
  )
