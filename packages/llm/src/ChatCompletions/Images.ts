/**
 * Images in a request. While it is kept and hashed, a request names an image by the hash of its bytes, which says as much as the bytes
 * themselves; they take its place when the request is sent.
 */
import type { Attachments } from "@dsh/attachments/Attachments"
import type { AttachmentRef } from "@dsh/protocol/Block"
import * as Effect from "effect/Effect"
import { base64 } from "../ShownImages.ts"

const scheme = "attachment:"

/** The part of a message that `expand` finds. */
export const part = ({ id, mediaType }: AttachmentRef) => ({
  type: "image_url",
  image_url: { url: `${scheme}${mediaType};${id}` }
})

// In JSON a quotation mark inside of a string has a backslash before it, so nothing that anybody wrote looks like this.
const opening = Buffer.from(`{"type":"image_url","image_url":{"url":"${scheme}`)
const reference = /^(image\/[a-z]+);(sha256:[0-9a-f]{64})"\}\}/
const longestReference = 128

/**
 * `body` with the bytes of its images. One that is not to be had is described in words: a log whose store is lost can be gone on with.
 */
export const expand = (body: Uint8Array, { read }: Attachments["Type"]): Effect.Effect<Uint8Array> =>
  Effect.gen(function* () {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    const pieces: Array<Uint8Array> = []
    const known = new Map<string, Buffer>()
    let done = 0
    for (let at = bytes.indexOf(opening); at !== -1; at = bytes.indexOf(opening, at + 1)) {
      const start = at + opening.length
      const found = reference.exec(bytes.toString("latin1", start, start + longestReference))
      if (found === null) continue
      const [whole, mediaType = "", id = ""] = found
      let image = known.get(id)
      if (image === undefined) known.set(id, (image = yield* written(read(id), mediaType, id)))
      pieces.push(bytes.subarray(done, at), image)
      done = start + whole.length
    }
    return done === 0 ? body : Buffer.concat([...pieces, bytes.subarray(done)])
  })

const written = (read: ReturnType<Attachments["Type"]["read"]>, mediaType: string, id: string): Effect.Effect<Buffer> =>
  Effect.match(read, {
    onSuccess: (image) => {
      const url = `data:${mediaType};base64,${base64(image)}`
      return Buffer.from(`{"type":"image_url","image_url":{"url":"${url}"}}`)
    },
    onFailure: ({ code }) => Buffer.from(JSON.stringify({ type: "text", text: `[image ${id}: lost (${code})]` }))
  })
