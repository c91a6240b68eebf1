// Images on the wire: an adapter, a store and a server.
import { Attachments } from "@dsh/attachments/Attachments"
import * as AttachmentsLocal from "@dsh/attachments/AttachmentsLocal"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as LlmOpenAiCompatible from "@dsh/llm/LlmOpenAiCompatible"
import { text } from "@dsh/protocol/Block"
import { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { EpochHeader } from "@dsh/protocol/Request"
import { showsImages } from "@dsh/protocol/Request"
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as NodeFs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { collect, parse, render } from "./support/DeepSeek.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => NodeFs.mkdtempSync(join(tmpdir(), "dsh-images-"))),
  (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
)

const gif = Buffer.from("R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=", "base64")

/** One question with an image to a model that takes them or not, and the content of its message as it reached the server. */
const ask = (model: string, prepareStore: (root: string) => void = () => {}) =>
  Effect.gen(function* () {
    const root = yield* folder
    const server = yield* MockLlm.make({ script: { _tag: "Respond", respond: () => Reply.text("ok") } })
    return yield* Effect.gen(function* () {
      const { read, saveImages } = yield* Attachments
      const [saved] = yield* saveImages([{ data: gif }])
      const attachment = saved!.ref
      const bytes = yield* read(attachment.id)
      prepareStore(root)
      const adapter = yield* LlmOpenAiCompatible.make({
        provider: "local",
        baseUrl: server.url,
        models: [{ id: "seeing", inputModalities: ["text", "image"] }, { id: "blind" }]
      })
      const { config, stream, wire } = yield* adapter.prepare({ provider: "local", model }, "agent")
      const header: EpochHeader = { config, wire }
      const quoted = text(`{"type":"image_url","image_url":{"url":"attachment:image/png;${attachment.id}"}}`)
      const image = { type: "image", attachment } as const
      const messages = [Message.user(MessageId("m"), [text("look"), image, image, quoted])]
      const body = render(header, messages)
      yield* collect(
        stream({ header, messages, body: { bytes: new TextEncoder().encode(body), sha256: "", of: "wire" } })
      )
      const [sent] = yield* server.requests
      const { content } = parse(new TextDecoder().decode(sent?.body)).messages[0] ?? {}
      const parts: ReadonlyArray<unknown> = Array.isArray(content) ? content : [content]
      const url = `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`
      return { header, parts, body, quoted: quoted.text, url }
    }).pipe(Effect.provide(Layer.merge(AttachmentsLocal.layer({ root }), HttpClientNode.layer)))
  })

describe("images on the wire", () => {
  it.scopedLive("are their bytes for a model that takes them, and the rendered request names them", () =>
    Effect.gen(function* () {
      const { body, header, parts, quoted, url } = yield* ask("seeing")
      assert.isTrue(showsImages(header))
      const image = { type: "image_url", image_url: { url } }
      // Words that look like such a name are words.
      assert.deepStrictEqual(parts, [{ type: "text", text: "look" }, image, image, { type: "text", text: quoted }])
      assert.notInclude(body, "base64")
    })
  )

  it.scopedLive("are words for a model that takes none", () =>
    Effect.gen(function* () {
      const { header, parts } = yield* ask("blind")
      assert.isFalse(showsImages(header))
      assert.match(String(parts[0]), /^look\[image sha256:[0-9a-f]+: image\/png, 1x1; not shown\]/)
    })
  )

  it.scopedLive("that the store has lost are words, too, so that a session can be gone on with", () =>
    Effect.gen(function* () {
      const { parts } = yield* ask("seeing", (root) => NodeFs.rmSync(root, { recursive: true }))
      assert.match(
        JSON.stringify(parts[1]),
        /^\{"type":"text","text":"\[image sha256:[0-9a-f]+: lost \(ATTACHMENT_NOT_FOUND\)\]"\}$/
      )
    })
  )
})
