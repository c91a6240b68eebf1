// Requests whose connections may go to given addresses only.
import { GuardedHttp } from "@dsh/http/GuardedHttp"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import { HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Servers from "./support/Servers.ts"

const here = ["127.0.0.1"]

const get = (url: string, addresses: ReadonlyArray<string>) =>
  Effect.flatMap(GuardedHttp, (http) => http.send(HttpClientRequest.get(url), addresses))

const text = (url: string, addresses: ReadonlyArray<string>) =>
  Effect.scoped(Effect.flatMap(get(url, addresses), (response) => response.text))

const direct = Effect.provide(HttpClientNode.layerGuarded({ proxy: false, ca: Servers.authority }))

describe("a guarded request", () => {
  it.scopedLive("goes where it is told, under the name that was asked for", () =>
    Effect.gen(function* () {
      for (const kind of ["http", "https"] as const) {
        const { open, port, seen } = yield* Servers.origin(kind)
        // Nobody else knows this name, and the certificate is for it.
        assert.strictEqual(yield* text(`${kind}://api.test:${port}/a?b`, here), "hello")
        assert.deepInclude(seen[0], { url: "/a?b" })
        assert.strictEqual(seen[0]?.headers.host, `api.test:${port}`)
        yield* open(0)
        assert.strictEqual(yield* text(`${kind}://api.test:${port}/`, here), "hello")
        assert.notStrictEqual(seen[1]?.port, seen[0]?.port)
      }
    }).pipe(direct)
  )

  it.scopedLive("goes nowhere else, whatever the name says", () =>
    Effect.gen(function* () {
      const { port, seen } = yield* Servers.origin("http")
      const refused = [
        text(`http://127.0.0.1:${port}/`, ["127.0.0.2"]),
        text(`http://127.0.0.1:${port}/`, []),
        text(`http://localhost:${port}/`, []),
        text(`http://localhost:${port}/`, ["localhost"]),
        text(`http://[::1]:${port}/`, here)
      ]
      for (const one of refused) assert.strictEqual((yield* Effect.flip(one))._tag, "RequestError")
      assert.strictEqual(seen.length, 0)
    }).pipe(direct)
  )

  it.scopedLive("ends its connection with its Scope, read or not", () =>
    Effect.gen(function* () {
      const { open, port } = yield* Servers.origin("http")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { status } = yield* get(`http://api.test:${port}/slow`, here)
          assert.strictEqual(status, 200)
          yield* open(1)
        })
      )
      yield* open(0)
    }).pipe(direct)
  )

  it.scopedLive("leaves the way to a proxy that is on it", () =>
    Effect.gen(function* () {
      const { port, seen } = yield* Servers.origin("http")
      const { asked, port: proxyPort } = yield* Servers.proxy()
      yield* Effect.gen(function* () {
        const http = yield* GuardedHttp
        assert.isTrue(http.isProxied(new URL("http://api.test/")))
        assert.isFalse(http.isProxied(new URL("http://127.0.0.1/")))
        assert.strictEqual(yield* text(`http://api.test:${port}/`, ["192.0.2.1"]), "hello")
        assert.strictEqual(yield* text(`http://127.0.0.1:${port}/`, here), "hello")
      }).pipe(Effect.provide(HttpClientNode.layerGuarded({ proxy: `http://localhost:${proxyPort}` })))
      assert.deepStrictEqual(asked, [`GET http://api.test:${port}/`])
      assert.strictEqual(seen.length, 2)
    })
  )
})
