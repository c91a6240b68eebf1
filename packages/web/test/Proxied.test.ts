import * as HttpClientNode from "@dsh/http/HttpClientNode"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as FetchHttp from "../src/FetchHttp.ts"
import * as Web from "../src/Web.ts"
import { fetch, names, server } from "./support/Servers.ts"

/** The web through a proxy, which answers everything itself. */
const proxied = (table: Parameters<typeof names>[0], allow: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const { asked, url } = yield* server((_, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).end("from the proxy")
    })
    const web = Layer.provideMerge(FetchHttp.layer({ ...names(table), allow }), Web.layer()).pipe(
      Layer.provide(HttpClientNode.layerGuarded({ proxy: url })),
      Layer.orDie
    )
    const codeOf = (address: string) =>
      Effect.either(fetch(address)).pipe(
        Effect.map((outcome) => (outcome._tag === "Left" ? outcome.left.code : outcome.right.body.content)),
        Effect.provide(web)
      )
    return { asked, codeOf }
  })

describe("through a proxy", () => {
  it.scopedLive("goes what is on the internet as far as can be told, and what only the proxy can find", () =>
    Effect.gen(function* () {
      const { asked, codeOf } = yield* proxied({ "public.test": [["93.184.216.34"]] })
      for (const host of ["public.test", "unknown.test", "93.184.216.34"]) {
        assert.strictEqual(yield* codeOf(`http://${host}/`), "from the proxy", host)
      }
      assert.deepStrictEqual(asked, ["http://public.test/", "http://unknown.test/", "http://93.184.216.34/"])
    })
  )

  it.scopedLive("goes nothing that is known to be elsewhere", () =>
    Effect.gen(function* () {
      const { asked, codeOf } = yield* proxied({ "private.test": [["10.0.0.1"]] })
      for (const host of [
        "private.test",
        "10.0.0.1",
        "169.254.169.254",
        "[fd00::1]",
        "127.0.0.1",
        "intranet",
        "printer.local",
        "metadata.google.internal",
        "localhost",
        "a.localhost"
      ]) {
        assert.strictEqual(yield* codeOf(`http://${host}/`), "WEB_BLOCKED_URL", host)
      }
      assert.deepStrictEqual(asked, [])
    })
  )

  it.scopedLive("goes what is allowed", () =>
    Effect.gen(function* () {
      const { codeOf } = yield* proxied({ "private.test": [["10.0.0.1"]] }, ["10.0.0.0/8", "intranet"])
      assert.strictEqual(yield* codeOf("http://private.test/"), "from the proxy")
      assert.strictEqual(yield* codeOf("http://intranet/"), "from the proxy")
      assert.strictEqual(yield* codeOf("http://intra.net.local/"), "WEB_BLOCKED_URL")
    })
  )
})
