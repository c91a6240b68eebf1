// Images as each protocol has them, before a server that refuses what a strict provider refuses.
import { Attachments } from "@dsh/attachments/Attachments"
import * as AttachmentsLocal from "@dsh/attachments/AttachmentsLocal"
import { showsImages } from "@dsh/protocol/Request"
import { text } from "@dsh/protocol/Block"
import { CallId, MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import * as Reply from "@dsh/testing/Reply"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as NodeFs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { apis, ask, tools, world } from "./support.ts"

const gif = Buffer.from("R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=", "base64")

const folder = Effect.acquireRelease(
  Effect.sync(() => NodeFs.mkdtempSync(join(tmpdir(), "dsh-pi-images-"))),
  (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
)

describe("images", () => {
  for (const api of apis) {
    it.scopedLive(`through ${api} are shown to models that take them, and described to others`, () =>
      Effect.gen(function* () {
        const store = yield* AttachmentsLocal.make({ root: yield* folder })
        const [saved] = yield* store.saveImages([{ data: gif }])
        const attachment = saved!.ref
        const image = { type: "image", attachment } as const
        const lost = { type: "image", attachment: { ...attachment, id: `sha256:${"0".repeat(64)}` } } as const
        const models = [{ id: "seeing", inputModalities: ["text", "image"] as const }, { id: "blind" }]
        const { adapter, server } = yield* Effect.provideService(
          world(api, [Reply.text("ok"), Reply.text("ok")], { models }),
          Attachments,
          store
        )
        const messages: ReadonlyArray<Message.Message> = [
          Message.user(MessageId("u"), [text("look"), image, lost]),
          {
            id: MessageId("a"),
            role: "assistant",
            content: [{ type: "tool-call", id: CallId("c"), name: "read", arguments: "{}" }],
            source: { kind: "model", provider: "another", model: "m" }
          },
          Message.toolResult(MessageId("t"), CallId("c"), [text("here:"), image], false)
        ]
        for (const model of ["seeing", "blind"]) {
          yield* ask(adapter, { config: { model }, messages, header: { tools } })
          const { wire } = yield* adapter.prepare({ provider: "pi", model }, "agent")
          assert.strictEqual(showsImages({ config: { provider: "pi", model }, wire }), model === "seeing")
        }
        const data = Buffer.from(yield* store.read(attachment.id)).toString("base64")
        const [seeing = "", blind = ""] = (yield* server.requests).map(({ body }) => new TextDecoder().decode(body))
        assert.strictEqual(seeing.split(data).length - 1, 2)
        assert.include(seeing, `[image ${lost.attachment.id}: image/png, 1x1; not shown]`)
        assert.notInclude(blind, data)
        assert.strictEqual(blind.split(`[image ${attachment.id}: image/png, 1x1; not shown]`).length - 1, 2)
      })
    )
  }
})
