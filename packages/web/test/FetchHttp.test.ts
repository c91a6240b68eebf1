import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { randomBytes } from "node:crypto"
import * as Zlib from "node:zlib"
import { answering, fetch, local, server, web } from "./support/Servers.ts"

const html = { "content-type": "text/html" }
const plain = { "content-type": "text/plain" }

const page = (body: string | Uint8Array, headers: Record<string, string>, status?: number) =>
  Effect.scoped(Effect.flatMap(answering(body, headers, status), ({ url }) => fetch(url)))

const codeOf = <A, E extends { readonly code: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.either(effect), (outcome) => (outcome._tag === "Left" ? outcome.left.code : "fetched"))

describe("what is fetched", () => {
  it.live("is the page, its status and where it was", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* server((request, response) => {
        const { "accept-encoding": encoding, "user-agent": agent } = request.headers
        response.writeHead(404, html).end(`<p>${encoding} ${agent}`)
      })
      assert.deepStrictEqual(yield* fetch(`${url}/a b?c=d#e`), {
        url: `${url}/a%20b?c=d`,
        statusCode: 404,
        body: { kind: "html", content: "<p>gzip, deflate, br dsh/0.1.0" },
        truncated: false
      })
      assert.deepStrictEqual(asked, ["/a%20b?c=d"])
    }).pipe(Effect.scoped, Effect.provide(web(local)))
  )

  it.live("is text of one kind or another, and nothing else", () =>
    Effect.gen(function* () {
      const kinds: Record<string, string> = {}
      for (const type of [
        "text/html; charset=utf-8",
        "application/xhtml+xml",
        "text/plain",
        "text/markdown",
        "application/json",
        "Application/Feed+JSON",
        "application/xml",
        "application/atom+xml",
        "application/x-ndjson",
        "application/pdf",
        "application/octet-stream",
        "image/png",
        "video/mp4",
        "multipart/form-data",
        "nonsense"
      ]) {
        const outcome = yield* Effect.either(page("x", { "content-type": type }))
        kinds[type] = outcome._tag === "Left" ? outcome.left.code : outcome.right.body.kind
      }
      const refused = "WEB_UNSUPPORTED_CONTENT_TYPE"
      assert.deepStrictEqual(kinds, {
        "text/html; charset=utf-8": "html",
        "application/xhtml+xml": "html",
        "text/plain": "text",
        "text/markdown": "text",
        "application/json": "text",
        "Application/Feed+JSON": "text",
        "application/xml": "text",
        "application/atom+xml": "text",
        "application/x-ndjson": "text",
        "application/pdf": refused,
        "application/octet-stream": refused,
        "image/png": refused,
        "video/mp4": refused,
        "multipart/form-data": refused,
        nonsense: refused
      })
      assert.strictEqual(yield* codeOf(page("x", {})), refused)
      const pdf = yield* Effect.flip(page("%PDF", { "content-type": "application/pdf" }))
      assert.include(pdf.message, "pdftotext")
    }).pipe(Effect.provide(web(local)))
  )

  it.live("is nothing where there is nothing", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* page("", {}, 204), { statusCode: 204, body: { kind: "text", content: "" } })
      assert.deepInclude(yield* page("", { "content-length": "0" }, 500), { statusCode: 500 })
    }).pipe(Effect.provide(web(local)))
  )
})

describe("a redirect", () => {
  it.live("is followed within one origin, exactly as often as is allowed", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* server((request, response) => {
        const left = Number(request.url?.slice(1))
        if (left === 0) return void response.writeHead(200, plain).end("there")
        const status = [301, 302, 303, 307, 308][left % 5]!
        return void response
          .writeHead(status, { location: left % 2 === 0 ? `/${left - 1}` : `${url}/${left - 1}#x` })
          .end()
      })
      assert.deepInclude(yield* fetch(`${url}/5`), { url: `${url}/0`, body: { kind: "text", content: "there" } })
      assert.deepStrictEqual(asked, ["/5", "/4", "/3", "/2", "/1", "/0"])
      assert.strictEqual((yield* Effect.flip(fetch(`${url}/6`))).code, "WEB_REDIRECT_BLOCKED")
    }).pipe(Effect.scoped, Effect.provide(web(local)))
  )

  it.live("to itself ends", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* server((_, response) => response.writeHead(302, { location: "/" }).end())
      assert.strictEqual((yield* Effect.flip(fetch(url))).code, "WEB_REDIRECT_BLOCKED")
      assert.strictEqual(asked.length, 6)
    }).pipe(Effect.scoped, Effect.provide(web(local)))
  )

  it.live("to another origin is told and not followed", () =>
    Effect.gen(function* () {
      const other = yield* answering("other", plain)
      const leading = (location: string) =>
        Effect.flatMap(
          server((_, response) => response.writeHead(302, { location }).end()),
          ({ port, url }) => Effect.flip(fetch(`${url}/?${port}`))
        )
      const elsewhere = yield* leading(`${other.url}/page?q=1`)
      assert.strictEqual(elsewhere.code, "WEB_REDIRECT_BLOCKED")
      assert.include(elsewhere.message, `fetch ${other.url}/page?q=1`)
      const outcomes = {
        "https://127.0.0.1/": "WEB_REDIRECT_BLOCKED",
        "http://169.254.169.254/latest": "WEB_REDIRECT_BLOCKED",
        "//example.com/": "WEB_REDIRECT_BLOCKED",
        "http://user:pass@127.0.0.1/": "WEB_BLOCKED_URL",
        "file:///etc/passwd": "WEB_BLOCKED_URL",
        "http://[": "WEB_INVALID_URL",
        [`/${"a".repeat(3000)}`]: "WEB_INVALID_URL"
      }
      for (const [location, code] of Object.entries(outcomes)) {
        assert.strictEqual((yield* leading(location)).code, code, location.slice(0, 50))
      }
      assert.strictEqual(other.connections(), 0)
    }).pipe(Effect.scoped, Effect.provide(web(local)))
  )

  it.live("without an address is a page", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* page("choose", plain, 300), { statusCode: 300 })
      assert.deepInclude(yield* page("lost", plain, 302), { statusCode: 302, body: { kind: "text", content: "lost" } })
    }).pipe(Effect.provide(web(local)))
  )
})

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
        codeOf(page(randomBytes(1000), { ...plain, "content-encoding": encoding }))
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

describe("a server", () => {
  it.live("that is slow is given up, and so is its connection", () =>
    Effect.gen(function* () {
      for (const begin of [false, true]) {
        const { closed, url } = yield* server((_, response) => {
          if (begin) response.writeHead(200, plain).write("the beginning")
        })
        const error = yield* Effect.flip(Effect.provide(fetch(url), web({ ...local, timeout: "100 millis" })))
        assert.strictEqual(error.code, "WEB_FETCH_TIMEOUT")
        yield* closed
      }
    }).pipe(Effect.scoped)
  )

  it.live("sees the connection closed when somebody cancels", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const { closed, url } = yield* server((_, response) => {
        response.writeHead(200, plain).write("the beginning")
        Deferred.unsafeDone(begun, Effect.void)
      })
      const fiber = yield* Effect.fork(fetch(url))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      yield* closed
    }).pipe(Effect.scoped, Effect.provide(web(local)))
  )

  it.live("that is not there, cannot be found or breaks off is an error with its name", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.scoped(answering("", plain))
      const refused = yield* Effect.flip(fetch(gone.url))
      assert.strictEqual(refused.code, "WEB_PROVIDER_ERROR")
      assert.include(refused.message, `127.0.0.1:${gone.port} could not be reached`)
      const unknown = yield* Effect.flip(fetch("http://no-such-host.invalid/"))
      assert.strictEqual(unknown.code, "WEB_PROVIDER_ERROR")
      assert.include(unknown.message, "no-such-host.invalid cannot be found")
      const broken = yield* server((_, response) => {
        response.writeHead(200, { ...plain, "content-length": 100 }).write("x", () => response.destroy())
      })
      assert.strictEqual((yield* Effect.flip(fetch(broken.url))).code, "WEB_PROVIDER_ERROR")
    }).pipe(Effect.scoped, Effect.provide(web(local)))
  )
})
