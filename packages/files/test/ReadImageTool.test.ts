import * as AttachmentsLocal from "@dsh/attachments/AttachmentsLocal"
import { Attachments } from "@dsh/attachments/Attachments"
import * as Sessions from "@dsh/session/Sessions"
import type { Session } from "@dsh/session/Session"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as ReadImageTool from "../src/ReadImageTool.ts"
import { isImage, picture } from "./images.ts"
import { call, codeOf, edit, folder, textOf, tools } from "./support.ts"

/** The tools, with a store for images in a folder that is gone afterwards. */
const world = <A, E, R>(test: Effect.Effect<A, E, R>, limits: AttachmentsLocal.Options["limits"] = {}) =>
  Effect.flatMap(folder, ({ at }) =>
    Effect.provide(
      test,
      ReadImageTool.layer.pipe(
        Layer.provideMerge(AttachmentsLocal.layer({ root: at("attachments"), limits })),
        Layer.provideMerge(Sessions.layer),
        Layer.provideMerge(tools)
      )
    )
  )

const look = (file_path: string, session?: Session) => call("read_image", { file_path }, session)

/** A session whose last request went to a model that takes images or not. */
const asking = (images: boolean) =>
  Effect.gen(function* () {
    const session = yield* (yield* Sessions.Sessions).create({})
    yield* session.append("request/header", {
      reason: "initial",
      header: {
        config: { provider: "p", model: "blind-1" },
        wire: { format: "chat-completions", ...(images && { options: { images: "send" } }) }
      }
    })
    return session
  })

describe("ReadImageTool", () => {
  it.scopedLive("gives a reference, what it refers to, and by how much it was shrunk", () =>
    world(
      Effect.gen(function* () {
        const { at, bytes, put } = yield* folder
        put("a.png", picture(40, 20).get_bytes())
        put("Large.JPEG", picture(4096, 1024).get_bytes_jpeg(80))
        const session = yield* asking(true)
        const small = yield* look(at("a.png"), session)
        assert.strictEqual(
          textOf(small),
          `<path>${at("a.png")}</path>\n<type>image</type>\n<content>\nimage/png, 40x20, ${bytes("a.png").length} bytes\n</content>`
        )
        const [image] = small.content.filter(isImage)
        assert.deepInclude(image?.attachment, { mediaType: "image/png", width: 40, height: 20 })
        const kept = yield* (yield* Attachments).read(image?.attachment.id ?? "")
        assert.isTrue(bytes("a.png").equals(kept))
        // No byte of it is in what the log keeps.
        assert.isBelow(JSON.stringify(small).length, 2000)

        const large = yield* look(at("Large.JPEG"), session)
        assert.match(textOf(large), /image\/jpeg, 2048x512, \d+ bytes, shrunk from 4096x1024: multiply .* by 2\.000\n/)
      })
    )
  )

  it.scopedLive("refuses what is no image, or not the one it is named like, before anything is kept", () =>
    world(
      Effect.gen(function* () {
        const { at, put } = yield* folder
        put("page.png", "<!DOCTYPE html><html></html>")
        put("photo.heic", "\0\0\0\x18ftypheic\0\0\0\0")
        put("renamed.jpg", Buffer.from("\0\0\0\x18ftypheic\0\0\0\0"))
        put("named.jpg", picture(4, 4).get_bytes())
        put("a.txt", "text")
        put("cut.png", picture(64, 64).get_bytes().subarray(0, 60))
        put("large.png", Buffer.alloc(30_000))
        const cases: ReadonlyArray<[name: string, code: string, says: RegExp]> = [
          ["page.png", "UNSUPPORTED_IMAGE_TYPE", /page\.png is HTML, which is not taken/],
          ["photo.heic", "UNSUPPORTED_IMAGE_TYPE", /sips -s format jpeg/],
          ["renamed.jpg", "UNSUPPORTED_IMAGE_TYPE", /HEIC.*heif-convert/],
          ["named.jpg", "IMAGE_TYPE_MISMATCH", /said to be image\/jpeg and is image\/png/],
          ["a.txt", "UNSUPPORTED_IMAGE_TYPE", /text files are for read/],
          ["cut.png", "INVALID_IMAGE", /cut\.png is damaged/],
          ["large.png", "IMAGE_TOO_LARGE", /larger than 20000 bytes.*shrink/],
          ["none.png", "FS_NOT_FOUND", /does not exist/]
        ]
        for (const [name, code, says] of cases) {
          const refused = yield* look(at(name))
          assert.strictEqual(codeOf(refused), code, textOf(refused))
          assert.match(textOf(refused), says)
          assert.isUndefined(refused.content.find(isImage))
        }
      }),
      { maxBytes: 20_000 }
    )
  )

  it.scopedLive("shows nothing to a model that sees nothing, and counts as having seen the file", () =>
    world(
      Effect.gen(function* () {
        const { at, put } = yield* folder
        put("a.png", picture(4, 4).get_bytes())
        const blind = yield* look(at("a.png"), yield* asking(false))
        assert.strictEqual(codeOf(blind), "UNSUPPORTED_MODALITY")
        assert.match(textOf(blind), /blind-1 takes no images/)
        assert.isUndefined(blind.content.find(isImage))
        const session = yield* asking(true)
        yield* look(at("a.png"), session)
        // It is no text, but it was seen.
        assert.strictEqual(codeOf(yield* edit(at("a.png"), "a", "b", {}, session)), "FS_NOT_TEXT")
      })
    )
  )
})
