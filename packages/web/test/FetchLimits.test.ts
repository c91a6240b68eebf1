import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import * as Zlib from "node:zlib"
import { answering, codeOf, fetch, html, local, page, plain, server, web } from "./support/Servers.ts"

describe("a limit", () => {
  const small = web({ ...local, maxResponseBytes: 10_000, maxBodyChars: 1000 })

  it.live("refuses what says that it is too long", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* codeOf(page("x".repeat(10_001), { ...plain, "content-length": "10001" })),
        "WEB_FETCH_TOO_LARGE"
      )
    }).pipe(Effect.provide(small))
  )

  it.live("ends what never ends, and its connection", () =>
    Effect.gen(function* () {
      const { closed, url } = yield* server((_, response) => {
        response.writeHead(200, plain)
        const more = () => {
          while (!response.destroyed && response.write("x".repeat(1000)));
        }
        response.on("drain", more)
        more()
      })
      const { body, truncated } = yield* fetch(url)
      assert.isTrue(truncated)
      assert.strictEqual(body.content, "x".repeat(10_000))
      yield* closed
    }).pipe(Effect.scoped, Effect.provide(web({ ...local, maxResponseBytes: 10_000 })))
  )

  it.live("holds for what was compressed, once or twice", () =>
    Effect.gen(function* () {
      const bomb = Buffer.alloc(20_000_000, "a")
      const bodies: Record<string, Buffer> = {
        gzip: Zlib.gzipSync(bomb),
        deflate: Zlib.deflateSync(bomb),
        br: Zlib.brotliCompressSync(bomb),
        "gzip, gzip": Zlib.gzipSync(Zlib.gzipSync(bomb))
      }
      for (const [encoding, body] of Object.entries(bodies)) {
        const { closed, url } = yield* answering(body.subarray(0, 9000), {
          ...plain,
          "content-encoding": encoding,
          "transfer-encoding": "chunked"
        })
        const { body: got, truncated } = yield* Effect.provide(fetch(url), web({ ...local, maxResponseBytes: 10_000 }))
        assert.isTrue(truncated, encoding)
        assert.strictEqual(got.content, "a".repeat(10_000), encoding)
        yield* closed
      }
    }).pipe(Effect.scoped)
  )

  it.live("holds for what is sent, too, where little comes of it", () =>
    Effect.gen(function* () {
      const nothing = Zlib.gzipSync("")
      const { closed, url } = yield* server((_, response) => {
        response.writeHead(200, { ...plain, "content-encoding": "gzip" })
        const more = () => {
          while (!response.destroyed && response.write(nothing));
        }
        response.on("drain", more)
        more()
      })
      assert.deepInclude(yield* fetch(url), { truncated: true, body: { kind: "text", content: "" } })
      yield* closed
    }).pipe(Effect.scoped, Effect.provide(small))
  )

  it.live("cuts text between its characters", () =>
    Effect.gen(function* () {
      const { body, truncated } = yield* page("😀".repeat(2000), { "content-type": "text/plain; charset=utf-8" })
      assert.isTrue(truncated)
      assert.strictEqual(body.content, "😀".repeat(500))
      assert.isFalse((yield* page("x".repeat(1000), plain)).truncated)
    }).pipe(Effect.provide(small))
  )

  it.live("falls on the text of a page and not on its scripts", () =>
    Effect.gen(function* () {
      const { body, truncated } = yield* page(
        `<head><script>${"s".repeat(2000)}</SCRIPT ><style x>${"s".repeat(900)}</style><!-- ${"c".repeat(900)} --></head><p>text`,
        html
      )
      assert.deepStrictEqual(
        { body, truncated },
        {
          body: { kind: "html", content: "<head></head><p>text" },
          truncated: false
        }
      )
    }).pipe(Effect.provide(small))
  )
})

describe("compression", () => {
  it.live("is undone", () =>
    Effect.gen(function* () {
      const bodies = {
        gzip: Zlib.gzipSync("text"),
        "X-Gzip": Zlib.gzipSync("text"),
        deflate: Zlib.deflateSync("text"),
        br: Zlib.brotliCompressSync("text"),
        identity: Buffer.from("text"),
        "gzip, br": Zlib.brotliCompressSync(Zlib.gzipSync("text"))
      }
      for (const [encoding, body] of Object.entries(bodies)) {
        const found = yield* page(body, { ...plain, "content-encoding": encoding })
        assert.strictEqual(found.body.content, "text", encoding)
      }
    }).pipe(Effect.provide(web(local)))
  )

  it.live("that the server broke off is undone as far as it goes", () =>
    Effect.gen(function* () {
      const text = randomBytes(20_000).toString("hex")
      for (const [encoding, body] of Object.entries({
        gzip: Zlib.gzipSync(text),
        deflate: Zlib.deflateSync(text),
        br: Zlib.brotliCompressSync(text)
      })) {
        const half = body.subarray(0, body.length / 2)
        const { content } = (yield* page(half, { ...plain, "content-encoding": encoding })).body
        assert.isTrue(content.length > 1000 && text.startsWith(content), encoding)
      }
    }).pipe(Effect.provide(web(local)))
  )

  it.live("that is not what it says, or is not known, is an error", () =>
    Effect.gen(function* () {
      const outcomes = yield* Effect.forEach(["gzip", "br", "zstd", "gzip, gzip, gzip", "constructor"], (encoding) =>
        codeOf(page(Buffer.alloc(1000, 0xff), { ...plain, "content-encoding": encoding }))
      )
      assert.deepStrictEqual(outcomes, [
        "WEB_PROVIDER_ERROR",
        "WEB_PROVIDER_ERROR",
        "WEB_UNSUPPORTED_CONTENT_TYPE",
        "WEB_UNSUPPORTED_CONTENT_TYPE",
        "WEB_UNSUPPORTED_CONTENT_TYPE"
      ])
    }).pipe(Effect.provide(web(local)))
  )
})
