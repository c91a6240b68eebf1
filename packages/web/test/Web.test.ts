import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Exit, Layer, Scope } from "effect"
import * as Web from "../src/Web.ts"

type Kind = "ready" | "lacking" | "last"

const provider = (id: string, kind: Kind) => ({
  id,
  available: Effect.succeed(kind !== "lacking"),
  isLastResort: kind === "last"
})

const search = (id: string, kind: Kind = "ready", count = 1): Web.SearchProvider => ({
  ...provider(id, kind),
  search: ({ query }) =>
    Effect.succeed({
      content: `${id}: ${query}`,
      sources: Array.from({ length: count }, (_, i) => ({ url: `https://example.com/${i}` })),
      truncated: false
    })
})

const fetching = (id: string, kind: Kind): Web.FetchProvider => ({
  ...provider(id, kind),
  fetch: ({ url }) => Effect.succeed({ url, statusCode: 200, body: { kind: "text", content: id }, truncated: false })
})

/** What a wish comes to among these, whichever is registered first. */
const outcomes = (configured: string | undefined, ...all: ReadonlyArray<readonly [id: string, kind: Kind]>) =>
  Effect.forEach([all, all.toReversed()], (order) =>
    Effect.gen(function* () {
      const web = Web.make({ searchProvider: configured, fetchProvider: configured })
      for (const [id, kind] of order) {
        yield* web.registerSearch(search(id, kind))
        yield* web.registerFetch(fetching(id, kind))
      }
      const found = Effect.map(web.search({ query: "q" }), ({ content }) => content?.split(":")[0] ?? "")
      const fetched = Effect.map(web.fetch({ url: "u" }), ({ body }) => body.content)
      return yield* Effect.forEach([found, fetched], (one) =>
        Effect.catchAll(one, ({ code, message }) => Effect.succeed(`${code} ${message}`))
      )
    }).pipe(Effect.scoped)
  ).pipe(Effect.map((all) => all.flat()))

const matrix: ReadonlyArray<
  readonly [wish: string | undefined, all: ReadonlyArray<readonly [string, Kind]>, expected: RegExp]
> = [
  [undefined, [], /^WEB_PROVIDER_UNAVAILABLE .*there is none/],
  [undefined, [["a", "ready"]], /^a$/],
  [undefined, [["a", "lacking"]], /^WEB_PROVIDER_UNAVAILABLE .*there are: a\)/],
  [
    undefined,
    [
      ["a", "lacking"],
      ["b", "ready"]
    ],
    /^b$/
  ],
  [
    undefined,
    [
      ["b", "ready"],
      ["a", "ready"]
    ],
    /^WEB_PROVIDER_AMBIGUOUS .*: a, b\. Set DSH_WEB_\w+_PROVIDER/
  ],
  [
    undefined,
    [
      ["a", "ready"],
      ["z", "last"]
    ],
    /^a$/
  ],
  [
    undefined,
    [
      ["a", "lacking"],
      ["z", "last"]
    ],
    /^z$/
  ],
  [
    undefined,
    [
      ["y", "last"],
      ["z", "last"]
    ],
    /^WEB_PROVIDER_AMBIGUOUS .*: y, z\./
  ],
  [
    "a",
    [
      ["a", "ready"],
      ["b", "ready"]
    ],
    /^a$/
  ],
  [
    "z",
    [
      ["a", "ready"],
      ["z", "last"]
    ],
    /^z$/
  ],
  [
    "c",
    [
      ["a", "ready"],
      ["b", "ready"]
    ],
    /^WEB_PROVIDER_CONFIGURED_MISSING .*called c; there are: a, b\. Set DSH_WEB/
  ],
  ["c", [], /^WEB_PROVIDER_CONFIGURED_MISSING .*there is none/],
  [
    "a",
    [
      ["a", "lacking"],
      ["b", "ready"]
    ],
    /^WEB_PROVIDER_CONFIGURED_UNAVAILABLE .* a cannot be used/
  ]
]

describe("the provider", () => {
  for (const [wish, all, expected] of matrix) {
    it.effect(`of ${all.map((one) => one.join(" ")).join(", ") || "none"}, asked for ${wish ?? "none"}`, () =>
      Effect.gen(function* () {
        for (const outcome of yield* outcomes(wish, ...all)) assert.match(outcome, expected)
      })
    )
  }

  it.effect("is named by the configuration; what is empty names none", () =>
    Effect.gen(function* () {
      const chosen = (env: Record<string, string>) =>
        Effect.flatMap(Web.Web, (web) => Effect.map(web.search({ query: "q" }), ({ content }) => content)).pipe(
          Effect.provide(
            Layer.mergeAll(
              Web.layerSearch(Effect.succeed(search("a"))),
              Web.layerSearch(Effect.succeed(search("b", "last")))
            ).pipe(Layer.provideMerge(Web.layerConfig))
          ),
          Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env))))
        )
      assert.strictEqual(yield* chosen({}), "a: q")
      assert.strictEqual(yield* chosen({ DSH_WEB_SEARCH_PROVIDER: " " }), "a: q")
      assert.strictEqual(yield* chosen({ DSH_WEB_SEARCH_PROVIDER: "b " }), "b: q")
    })
  )

  it.effect("has its id for itself, for as long as it is there", () =>
    Effect.gen(function* () {
      const web = Web.make()
      const scope = yield* Scope.make()
      yield* Scope.extend(web.registerSearch(search("a")), scope)
      const again = yield* Effect.flip(Effect.scoped(web.registerSearch(search("a"))))
      assert.strictEqual(again.code, "WEB_DUPLICATE_PROVIDER")
      assert.strictEqual((yield* web.search({ query: "q" })).content, "a: q")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* Effect.flip(web.search({ query: "q" }))).code, "WEB_PROVIDER_UNAVAILABLE")
      yield* Effect.scoped(web.registerSearch(search("a")))
    })
  )

  it.effect("is held to as many sources as were asked for", () =>
    Effect.gen(function* () {
      const web = Web.make()
      yield* web.registerSearch(search("a", "ready", 5))
      const lengths = yield* Effect.forEach([undefined, 3, 5, 9], (maxResults) =>
        Effect.map(
          web.search({ query: "q", ...(maxResults !== undefined && { maxResults }) }),
          ({ sources, truncated }) => [sources.length, truncated]
        )
      )
      assert.deepStrictEqual(lengths, [
        [5, false],
        [3, true],
        [5, false],
        [5, false]
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("is loaded when it is first needed, with the configuration that was there before", () =>
    Effect.gen(function* () {
      let loaded = 0
      const make = () => Effect.map(Effect.orDie(Config.string("NAME")), (name) => search(name))
      const load = () => {
        loaded++
        return Promise.resolve({ make })
      }
      const late = yield* Effect.withConfigProvider(
        Web.lazySearch({ id: "late", load }),
        ConfigProvider.fromMap(new Map([["NAME", "configured"]]))
      )
      assert.strictEqual(loaded, 0)
      assert.isTrue(yield* late.available)
      assert.strictEqual((yield* late.search({ query: "q" })).content, "configured: q")
    })
  )
})
