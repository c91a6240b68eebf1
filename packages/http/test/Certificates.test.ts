// Servers whose certificate is not one that Node trusts: what makes them trusted, and what is said when nothing does.
import type { ConnectionError } from "@dsh/http/ConnectionError"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { authority, fixture, origin, proxy } from "./support/Servers.ts"

const get = (url: string, options: HttpClientNode.Options = {}, env: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(HttpClient.get(url), (response) => response.text).pipe(
    Effect.provide(
      HttpClientNode.layerWith(options).pipe(
        Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))))
      )
    )
  )

const untrusted = (...args: Parameters<typeof get>) =>
  Effect.map(Effect.flip(get(...args)), (error) => {
    assert.deepInclude(error, { _tag: "RequestError", reason: "Transport" })
    const cause = error.cause as ConnectionError
    assert.strictEqual(cause.code, "TLS_UNTRUSTED")
    assert.isFalse(cause.isTransient)
    assert.include(error.message, cause.message)
    return cause.message
  })

const said = (host: string, missing = "") =>
  `the certificate of ${host} is not trusted: self-signed certificate in certificate chain; if you trust its issuer, ` +
  `set NODE_EXTRA_CA_CERTS=/path/to/ca.pem and start again${missing} ` +
  "(subject CN=api.test, O=dsh tests, issuer CN=dsh test authority, O=dsh tests, SELF_SIGNED_CERT_IN_CHAIN)"

describe("certificates", () => {
  it.scopedLive("one that is not trusted is named, and what to do", () =>
    Effect.gen(function* () {
      const { port } = yield* origin("https")
      assert.strictEqual(yield* untrusted(`https://localhost:${port}`), said("localhost"))
    })
  )

  it.scopedLive("also behind a proxy, and when it is the proxy's", () =>
    Effect.gen(function* () {
      const { port } = yield* origin("https")
      const { url } = yield* proxy()
      const behind = yield* untrusted(`https://api.test:${port}`, { proxy: url })
      assert.strictEqual(behind, said("api.test"))
      const secure = yield* proxy({ kind: "https" })
      for (const at of [`https://api.test:${port}`, "http://api.test"]) {
        assert.strictEqual(yield* untrusted(at, { proxy: `https://localhost:${secure.port}` }), said("localhost"))
      }
    })
  )

  it.scopedLive("its authority can be given to the Layer, or in a file", () =>
    Effect.gen(function* () {
      const { port } = yield* origin("https")
      const url = `https://localhost:${port}`
      assert.strictEqual(yield* get(url, { ca: authority }), "hello")
      assert.strictEqual(yield* get(url, { ca: [authority] }), "hello")
      assert.strictEqual(yield* get(url, {}, { SSL_CERT_FILE: fixture("ca.pem") }), "hello")
      const other = yield* untrusted(url, { ca: [] }, { SSL_CERT_FILE: fixture("ca.pem") })
      assert.strictEqual(other, said("localhost"))
    })
  )

  it.scopedLive("a file that cannot be read is told when it would have been needed", () =>
    Effect.gen(function* () {
      const { port } = yield* origin("https")
      const message = yield* untrusted(`https://localhost:${port}`, {}, { SSL_CERT_FILE: fixture("none.pem") })
      assert.strictEqual(
        message,
        said(
          "localhost",
          `; SSL_CERT_FILE cannot be read: ENOENT: no such file or directory, open '${fixture("none.pem")}'`
        )
      )
    })
  )

  it.scopedLive("one that is trusted may be old, or for another host", () =>
    Effect.gen(function* () {
      const old = yield* untrusted(`https://localhost:${(yield* origin("expired")).port}`, { ca: authority })
      assert.match(
        old,
        /has expired; it is valid from Jan +1 .+ to Feb +1 00:00:00 2020 GMT: check .+, CERT_HAS_EXPIRED\)$/
      )
      const other = yield* untrusted(`https://127.0.0.1:${(yield* origin("https")).port}`, { ca: authority })
      assert.match(
        other,
        /^the certificate of 127\.0\.0\.1 is not trusted: Hostname\/IP does not match .+; check the address \(/
      )
    })
  )

  it.live("a host name that cannot be found is named", () =>
    Effect.gen(function* () {
      for (const scheme of ["http", "https"]) {
        const error = yield* Effect.flip(get(`${scheme}://nowhere.invalid`))
        assert.match(error.message, /the host name nowhere\.invalid cannot be found \((ENOTFOUND|EAI_AGAIN)\)/)
        assert.strictEqual((error.cause as ConnectionError).code, "HOST_NOT_FOUND")
      }
    })
  )
})
