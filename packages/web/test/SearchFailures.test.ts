import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import type * as Http from "node:http"
import * as SearchDeepSeek from "../src/SearchDeepSeek.ts"
import * as SearchExa from "../src/SearchExa.ts"
import * as SearchPerplexity from "../src/SearchPerplexity.ts"
import { json, live, makers, provider, search, secret } from "./support/Providers.ts"

describe("any provider", () => {
  const each = <E, R>(test: (id: string) => Effect.Effect<void, E, R>) => Effect.forEach(Object.keys(makers), test)

  const failing = (id: string, answer: (response: Http.ServerResponse) => void) =>
    Effect.gen(function* () {
      const { seen, url } = yield* provider(answer)
      const error = yield* Effect.flip(search(id, url))
      assert.strictEqual(error.code, "WEB_PROVIDER_ERROR", id)
      assert.notInclude(`${error.message} ${String(error.cause)} ${JSON.stringify(error)}`, secret, id)
      return { message: error.message, requests: seen.length }
    })

  it.scopedLive(
    "that answers with an error, or nothing that can be used, is told apart from one that finds nothing",
    () =>
      each((id) =>
        Effect.gen(function* () {
          const given = id === "wikipedia" ? "none" : secret
          const denied = yield* failing(id, json({ error: `the key ${given} is not known` }, 401))
          assert.include(denied.message, "HTTP 401")
          const broken = yield* failing(id, json({ error: `for ${given}: overloaded` }, 529))
          assert.include(broken.message, "HTTP 529")
          assert.include(broken.message, "overloaded")
          yield* failing(id, (response) => void response.end(`<html>${given}`))
          yield* failing(id, (response) => void response.destroy())
          yield* failing(id, (response) => {
            response.writeHead(200, { "content-length": 100 }).write("{", () => response.destroy())
          })
        })
      ).pipe(live)
  )

  it.scopedLive("is not followed to where it redirects", () =>
    each((id) =>
      Effect.gen(function* () {
        const { message, requests } = yield* failing(id, (response) => {
          response.writeHead(307, { location: "/elsewhere" }).end()
        })
        assert.include(message, "redirects")
        assert.strictEqual(requests, 1)
      })
    ).pipe(live)
  )

  it.scopedLive("is not listened to for ever", () =>
    each((id) =>
      Effect.gen(function* () {
        const { message } = yield* failing(id, (response) => {
          const more = () => {
            while (!response.destroyed && response.write(" ".repeat(100_000)));
          }
          response.on("drain", more)
          more()
        })
        assert.include(message, "more than 2000000 bytes")
      })
    ).pipe(live)
  )

  it.scopedLive("is given up after a while, and its connection closed", () =>
    each((id) =>
      Effect.gen(function* () {
        const { closed, url } = yield* provider((response) => void response.writeHead(200).write("{"))
        const error = yield* Effect.flip(search(id, url, "100 millis"))
        assert.include(error.message, "did not answer within 100ms")
        yield* closed
      })
    ).pipe(live)
  )

  it.scopedLive("answers without anything where it found nothing that fits", () =>
    Effect.gen(function* () {
      for (const [id, answer] of [
        ["exa", { results: "none" }],
        ["exa", []],
        ["wikipedia", { query: 1 }]
      ] as const) {
        const { url } = yield* provider(json(answer))
        assert.deepStrictEqual((yield* search(id, url)).sources, [])
      }
      const { url } = yield* provider(json({ choices: [{}] }))
      assert.include((yield* Effect.flip(search("perplexity", url))).message, "neither an answer nor sources")
    }).pipe(live)
  )

  it.live("needs its key, which is looked up each time", () =>
    Effect.gen(function* () {
      const keys = { EXA_API_KEY: SearchExa, PERPLEXITY_API_KEY: SearchPerplexity, DEEPSEEK_API_KEY: SearchDeepSeek }
      for (const [name, { make }] of Object.entries(keys)) {
        const configured = yield* Effect.withConfigProvider(make(), ConfigProvider.fromMap(new Map([[name, "sk-1\n"]])))
        assert.isTrue(yield* configured.available)
        let value = ""
        const made = yield* make({ apiKey: Effect.sync(() => Redacted.make(value)) })
        for (value of ["", " ", "two words", "sk-“quoted”"]) {
          assert.isFalse(yield* made.available)
          const error = yield* Effect.flip(made.search({ query: "q" }))
          assert.strictEqual(error.code, "WEB_PROVIDER_CREDENTIAL_MISSING")
          assert.include(error.message, name)
        }
        value = "sk-1"
        assert.isTrue(yield* made.available)
      }
    }).pipe(live)
  )
})
