// Which proxy a request takes: the variables in both cases, their exceptions, the options of the Layer.
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { authority, origin, proxy } from "./support/Servers.ts"

type Env = Readonly<Record<string, string>>

const get = (url: string, env: Env, options: HttpClientNode.Options = {}) =>
  Effect.flatMap(HttpClient.get(url), (response) => response.text).pipe(
    Effect.provide(
      HttpClientNode.layerWith({ ca: authority, ...options }).pipe(
        Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))))
      )
    )
  )

const world = Effect.gen(function* () {
  const http = yield* origin("http")
  const https = yield* origin("https")
  const [one, other] = [yield* proxy(), yield* proxy()]
  return {
    one,
    other,
    http: `http://api.test:${http.port}`,
    https: `https://api.test:${https.port}`,
    loopback: `http://localhost:${http.port}`
  }
})

/** Nobody is there. */
const nowhere = "http://127.0.0.1:1"

describe("proxies in the environment", () => {
  for (const [env, shown] of [
    [{}, []],
    [{ NO_PROXY: "a" }, []],
    [
      {
        HTTP_PROXY: "http://u:secret@one:1",
        https_proxy: "two",
        ALL_PROXY: "socks5://u:secret@three",
        NO_PROXY: "a,b"
      },
      ["HTTP_PROXY=http://one:1", "https_proxy=http://two", "ALL_PROXY=(no proxy that can be used)", "NO_PROXY=a,b"]
    ],
    [{ http_proxy: "one", HTTP_PROXY: "two", no_proxy: " " }, ["http_proxy=http://one"]]
  ] as const) {
    it.effect(
      `are told without passwords: ${shown.join(" ") || "none"} for ${Object.keys(env).join(" ") || "nothing"}`,
      () =>
        Effect.gen(function* () {
          const proxies = yield* HttpClientNode.proxies
          assert.deepStrictEqual(
            proxies.map(({ name, value }) => `${name}=${value}`),
            [...shown]
          )
        }).pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries<string>(env)))))
    )
  }

  it.scopedLive("each kind of URL has its own", () =>
    Effect.gen(function* () {
      const { http, https, one, other } = yield* world
      const env = { HTTP_PROXY: one.url, HTTPS_PROXY: other.url, ALL_PROXY: nowhere }
      assert.strictEqual(yield* get(http, env), "hello")
      assert.strictEqual(yield* get(https, env), "hello")
      assert.deepStrictEqual(one.asked, [`GET ${http}/`])
      assert.deepStrictEqual(other.asked, [`CONNECT ${https.slice("https://".length)}`])
    })
  )

  it.scopedLive("one can be for all", () =>
    Effect.gen(function* () {
      const { http, https, one } = yield* world
      for (const name of ["ALL_PROXY", "all_proxy"]) {
        yield* get(http, { [name]: one.url })
        yield* get(https, { [name]: one.url })
      }
      assert.lengthOf(one.asked, 4)
    })
  )

  it.scopedLive("lower case wins, and what is empty is not set", () =>
    Effect.gen(function* () {
      const { http, https, one } = yield* world
      yield* get(http, { http_proxy: one.url, HTTP_PROXY: nowhere })
      yield* get(https, { https_proxy: one.url, HTTPS_PROXY: nowhere })
      yield* get(https, { https_proxy: " ", HTTPS_PROXY: one.url })
      yield* get(http, { all_proxy: one.url, ALL_PROXY: nowhere, http_proxy: "" })
      assert.lengthOf(one.asked, 4)
      const direct = { HTTP_PROXY: one.url, no_proxy: "api.test", NO_PROXY: "other" }
      yield* Effect.flip(get("http://api.test", direct))
      assert.lengthOf(one.asked, 4)
    })
  )

  it.scopedLive("a scheme can be left out", () =>
    Effect.gen(function* () {
      const { http, one } = yield* world
      yield* get(http, { http_proxy: `127.0.0.1:${one.port}` })
      assert.lengthOf(one.asked, 1)
    })
  )

  it.scopedLive("this machine and NO_PROXY are reached without it", () =>
    Effect.gen(function* () {
      const { loopback, one } = yield* world
      yield* get(loopback, { HTTP_PROXY: one.url })
      yield* get(loopback, { HTTP_PROXY: one.url, NO_PROXY: "<-loopback>,localhost" })
      assert.deepStrictEqual(one.asked, [])
      yield* get(loopback, { HTTP_PROXY: one.url, NO_PROXY: "<-loopback>" })
      assert.deepStrictEqual(one.asked, [`GET ${loopback}/`])
    })
  )

  it.scopedLive("options win over it", () =>
    Effect.gen(function* () {
      const { http, https, loopback, one, other } = yield* world
      const env = { HTTP_PROXY: one.url, HTTPS_PROXY: one.url, NO_PROXY: "*" }
      yield* get(http, env, { proxy: other.url, noProxy: "" })
      yield* get(https, env, { proxy: other.url, noProxy: "" })
      assert.lengthOf(other.asked, 2)
      yield* get(loopback, { ...env, NO_PROXY: "<-loopback>" }, { proxy: false })
      yield* get(loopback, { ...env, NO_PROXY: "<-loopback>" }, { noProxy: "localhost" })
      assert.lengthOf(one.asked, 0)
    })
  )

  it.scopedLive("what is no proxy fails the requests it is for, and is not shown", () =>
    Effect.gen(function* () {
      const { loopback } = yield* world
      for (const url of ["socks5://me:secret@127.0.0.1:1080", "http://me:secret@:80:80"]) {
        const error = yield* Effect.flip(get("https://api.test", { HTTPS_PROXY: url }))
        assert.deepInclude(error, { _tag: "RequestError", reason: "Transport" })
        assert.match(error.message, /HTTPS_PROXY names no proxy that can be used \(.+\); set it as http:\/\/host:port/)
        assert.notInclude(error.message, "secret")
        assert.strictEqual(yield* get(loopback, { HTTP_PROXY: url }), "hello")
      }
    })
  )
})
