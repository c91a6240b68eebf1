// Requests through a real proxy: what is sent, what is kept open, what a cancel reaches, and what a failure says.
import type { ConnectionError } from "@dsh/http/ConnectionError"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import type { HttpClientError } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Exit, Fiber, Layer, Option, Scope, Stream } from "effect"
import { inspect } from "node:util"
import { authority, origin, proxy, speaking } from "./support/Servers.ts"

const clientOf = (url: string, options: HttpClientNode.Options = {}) =>
  HttpClientNode.makeWith({ proxy: url, noProxy: "<-loopback>", ca: authority, ...options })

const text = (client: HttpClient.HttpClient, url: string) => Effect.flatMap(client.get(url), (it) => it.text)

const failure = (url: string, at: string, options?: HttpClientNode.Options) =>
  Effect.gen(function* () {
    const error = yield* Effect.flip((yield* clientOf(url, options)).get(at))
    assert.deepInclude(error, { _tag: "RequestError", reason: "Transport" })
    return { error: error as HttpClientError.RequestError, cause: error.cause as ConnectionError }
  })

const kinds = ["http", "https"] as const

describe("requests through a proxy", () => {
  for (const kind of kinds) {
    it.scopedLive(`${kind}: arrive as they were sent`, () =>
      Effect.gen(function* () {
        const { port, seen } = yield* origin(kind)
        const { asked, authorizations, url } = yield* proxy({ login: "me@corp:p%:w" })
        const client = yield* clientOf(url.replace("//", "//me%40corp:p%:w@"))
        const post = HttpClientRequest.post(`${kind}://you:there@api.test:${port}/path?q=1#part`, {
          headers: { "x-mine": "1" }
        })
        yield* client.execute(HttpClientRequest.bodyText(post, "bytes"))
        yield* client.execute(HttpClientRequest.bodyStream(post, Stream.make(new TextEncoder().encode("streamed"))))
        const [first, second] = seen
        assert.deepStrictEqual([first?.url, first?.body, second?.body], ["/path?q=1", "bytes", "streamed"])
        const authorization = `Basic ${Buffer.from("you:there").toString("base64")}`
        assert.include(first?.headers, { host: `api.test:${port}`, "x-mine": "1", authorization })
        assert.notProperty(first?.headers, "proxy-authorization")
        assert.strictEqual(
          asked[0],
          kind === "http" ? `POST http://api.test:${port}/path?q=1` : `CONNECT api.test:${port}`
        )
        assert.strictEqual(authorizations[0], `Basic ${Buffer.from("me@corp:p%:w").toString("base64")}`)
      })
    )

    it.scopedLive(`${kind}: through a proxy that is reached by TLS itself`, () =>
      Effect.gen(function* () {
        const { port } = yield* origin(kind)
        const secure = yield* proxy({ kind: "https" })
        const client = yield* clientOf(`https://localhost:${secure.port}`)
        assert.strictEqual(yield* text(client, `${kind}://api.test:${port}`), "hello")
        assert.lengthOf(secure.asked, 1)
      })
    )

    it.scopedLive(`${kind}: one connection serves requests that follow each other, and closes with the Scope`, () =>
      Effect.gen(function* () {
        const server = yield* origin(kind)
        const through = yield* proxy()
        const scope = yield* Scope.make()
        const client = yield* Scope.extend(clientOf(through.url), scope)
        for (let i = 0; i < 3; i++) yield* text(client, `${kind}://api.test:${server.port}`)
        assert.lengthOf(through.asked, kind === "http" ? 3 : 1)
        yield* through.open(1)
        if (kind === "https") assert.lengthOf(new Set(server.seen.map(({ port }) => port)), 1)
        yield* Scope.close(scope, Exit.void)
        yield* through.open(0)
      })
    )

    it.scopedLive(`${kind}: a body arrives piece by piece`, () =>
      Effect.gen(function* () {
        const { more, port } = yield* origin(kind)
        const client = yield* clientOf((yield* proxy()).url)
        const response = yield* client.get(`${kind}://api.test:${port}/slow`)
        const pieces = yield* Stream.runCollect(
          Stream.tap(response.stream, () => Deferred.succeed(more, undefined)).pipe(
            Stream.map((bytes) => new TextDecoder().decode(bytes))
          )
        )
        assert.deepStrictEqual(Chunk.toReadonlyArray(pieces), ["one", "two"])
      })
    )

    it.scopedLive(`${kind}: a cancel reaches a proxy that says nothing`, () =>
      Effect.gen(function* () {
        const silent = yield* speaking()
        const client = yield* clientOf(`http://127.0.0.1:${silent.port}`)
        const fiber = yield* Effect.fork(client.get(`${kind}://api.test`))
        yield* silent.open(1)
        yield* Fiber.interrupt(fiber)
        yield* silent.open(0)
      })
    )

    it.scopedLive(`${kind}: the end of the Scope does, too`, () =>
      Effect.gen(function* () {
        const silent = yield* speaking()
        const scope = yield* Scope.make()
        const client = yield* Scope.extend(clientOf(`http://127.0.0.1:${silent.port}`), scope)
        const fiber = yield* Effect.fork(Effect.exit(client.get(`${kind}://api.test`)))
        yield* silent.open(1)
        yield* Scope.close(scope, Exit.void)
        yield* silent.open(0)
        assert.isTrue(Exit.isFailure(yield* Fiber.join(fiber)))
      })
    )

    it.scopedLive(`${kind}: a proxy that wants a login says so, without the password it was given`, () =>
      Effect.gen(function* () {
        const { port } = yield* origin(kind)
        const { url } = yield* proxy({ login: "me:right" })
        const at = `api.test:${port}`
        const none = yield* failure(url, `${kind}://${at}`)
        assert.strictEqual(none.cause.code, "PROXY_REFUSED")
        assert.strictEqual(
          none.error.description,
          `the proxy ${url} refused the connection to ${at} (407: Proxy Authentication Required); ` +
            "it wants a user and a password: set the proxy option as http://user:password@host:port"
        )
        const wrong = yield* failure(url.replace("//", "//me:wrong@"), `${kind}://${at}`)
        assert.include(wrong.error.message, "it does not accept the user and the password in the proxy option")
        const shown = inspect(wrong.error, { depth: 9 }) + JSON.stringify(wrong.error)
        assert.notInclude(shown, "wrong")
        assert.notInclude(shown, Buffer.from("me:wrong").toString("base64"))
      })
    )

    it.scopedLive(`${kind}: a proxy that is not there is named`, () =>
      Effect.gen(function* () {
        const { url } = yield* Effect.scoped(proxy())
        const { cause, error } = yield* failure(url, `${kind}://api.test`)
        assert.strictEqual(cause.code, "PROXY_UNREACHABLE")
        assert.strictEqual(
          error.description,
          `the proxy ${url} cannot be reached (ECONNREFUSED); check the proxy option`
        )
      })
    )

    it.scopedLive(`${kind}: so is one whose name is unknown, and one that is something else`, () =>
      Effect.gen(function* () {
        const unknown = yield* failure("http://proxy.invalid:3128", `${kind}://api.test`)
        assert.match(
          unknown.cause.message,
          /^the proxy http:\/\/proxy.invalid:3128 cannot be reached \((ENOTFOUND|EAI_AGAIN)\)/
        )
        const { port } = yield* speaking("220 mail.test ESMTP\r\n")
        const other = yield* failure(`http://127.0.0.1:${port}`, `${kind}://api.test`)
        assert.match(other.cause.message, /^the proxy http:\/\/127\.0\.0\.1:\d+ does not speak HTTP \(HPE_/)
      })
    )
  }

  it.scopedLive("a refusal of a tunnel is one of the proxy, whatever its status", () =>
    Effect.gen(function* () {
      const forbidden = yield* failure((yield* proxy({ refuse: 403 })).url, "https://api.test")
      assert.include(forbidden.cause.message, "refused the connection to api.test:443 (403: Forbidden); ask whoever")
      assert.isFalse(forbidden.cause.isTransient)
      const bad = yield* failure((yield* proxy({ refuse: 502 })).url, "https://[fd00::1]:8443")
      assert.deepInclude(bad.cause, { code: "PROXY_FAILED" })
      assert.isTrue(bad.cause.isTransient)
      assert.include(bad.cause.message, "could not connect to [fd00::1]:8443 (502: Bad Gateway)")
    })
  )

  it.scopedLive("any other answer to a plain request may be one of the server", () =>
    Effect.gen(function* () {
      const client = yield* clientOf((yield* proxy({ refuse: 403 })).url)
      assert.strictEqual((yield* client.get("http://api.test")).status, 403)
    })
  )

  it.scopedLive("a proxy that says nothing is not waited for without end", () =>
    Effect.gen(function* () {
      const silent = yield* speaking()
      const { cause } = yield* failure(`http://127.0.0.1:${silent.port}`, "https://api.test", { proxyTimeoutMs: 20 })
      assert.match(
        cause.message,
        /^the proxy http:\/\/127\.0\.0\.1:\d+ did not answer for 1 s; check the proxy option$/
      )
      yield* silent.open(0)
    })
  )

  it.scopedLive("a cancel reaches the server behind a tunnel, in the middle of the handshake", () =>
    Effect.gen(function* () {
      const silent = yield* speaking()
      const through = yield* proxy()
      const client = yield* clientOf(through.url)
      const fiber = yield* Effect.fork(client.get(`https://api.test:${silent.port}`))
      yield* silent.open(1)
      yield* Fiber.interrupt(fiber)
      yield* silent.open(0)
      yield* through.open(0)
    })
  )

  it.scopedLive("a stream that is uploaded fails like any other request", () =>
    Effect.gen(function* () {
      const { url } = yield* Effect.scoped(proxy())
      const client = yield* clientOf(url)
      const post = HttpClientRequest.bodyStream(
        HttpClientRequest.post("https://api.test"),
        Stream.make(new Uint8Array(10))
      )
      const error = yield* Effect.flip(client.execute(post))
      assert.include(error.message, `the proxy ${url} cannot be reached`)
    })
  )

  it.scopedLive("the Layer is that of the options", () =>
    Effect.gen(function* () {
      const { port } = yield* origin("http")
      const { asked, url } = yield* proxy()
      const response = yield* HttpClient.get(`http://api.test:${port}`).pipe(
        Effect.provide(Layer.fresh(HttpClientNode.layerWith({ proxy: url })))
      )
      assert.strictEqual(response.status, 200)
      assert.isTrue(Option.isSome(Option.fromNullable(asked[0])))
    })
  )
})
