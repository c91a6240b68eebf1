import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { answering, codeOf, fetch, html, local, names, page, plain, server, web } from "./support/Servers.ts"

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

  it.live("of names that is silent is given up, too", () =>
    Effect.gen(function* () {
      const resolve = () => new Promise<never>(() => {})
      const silent = web({ ...local, resolve, timeout: "50 millis" })
      assert.strictEqual(
        (yield* Effect.flip(Effect.provide(fetch("http://a.test/"), silent))).code,
        "WEB_FETCH_TIMEOUT"
      )
      const patient = yield* Effect.fork(Effect.provide(fetch("http://a.test/"), web({ ...local, resolve })))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(patient)
    })
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
      const unknown = yield* Effect.flip(Effect.provide(fetch("http://no-such-host.invalid/"), web(names({}))))
      assert.strictEqual(unknown.code, "WEB_PROVIDER_ERROR")
      assert.include(unknown.message, "no-such-host.invalid cannot be found")
      const broken = yield* server((_, response) => {
        response.writeHead(200, { ...plain, "content-length": 100 }).write("x", () => response.destroy())
      })
      assert.strictEqual((yield* Effect.flip(fetch(broken.url))).code, "WEB_PROVIDER_ERROR")
    }).pipe(Effect.scoped, Effect.provide(web(local)))
  )
})
