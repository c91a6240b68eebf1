// The web as an application puts it together, under a configuration.
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import * as Tools from "@dsh/tools/Tools"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import * as FetchHttp from "../src/FetchHttp.ts"
import * as MarkdownThread from "../src/MarkdownThread.ts"
import * as SearchExa from "../src/SearchExa.ts"
import * as SearchPerplexity from "../src/SearchPerplexity.ts"
import * as Web from "../src/Web.ts"
import * as WebFetchTool from "../src/WebFetchTool.ts"
import * as WebSearchTool from "../src/WebSearchTool.ts"
import { answering } from "./support/Servers.ts"

const product = Layer.mergeAll(
  WebSearchTool.layer,
  WebFetchTool.layer,
  FetchHttp.layerConfig(),
  Web.layerSearch(Web.lazySearch({ id: "deepseek-official", load: () => import("../src/SearchDeepSeek.ts") })),
  SearchExa.layer(),
  SearchPerplexity.layer(),
  Web.layerSearch(
    Web.lazySearch({ id: "wikipedia", isLastResort: true, load: () => import("../src/SearchWikipedia.ts") })
  )
).pipe(
  Layer.provideMerge(Web.layerConfig),
  Layer.provide([MarkdownThread.layer(), HttpClientNode.layerGuarded(), HttpClientNode.layer]),
  Layer.provideMerge(Layer.mergeAll(Tools.layer, SystemPrompt.layer, ToolHooks.layer)),
  Layer.orDie
)

const under =
  (env: Record<string, string>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.withConfigProvider(Effect.provide(effect, product), ConfigProvider.fromMap(new Map(Object.entries(env))))

const search = Effect.flatMap(Web.Web, (web) => web.search({ query: "q" }))

describe("the web of an application", () => {
  it.scopedLive("reaches what its configuration names", () =>
    Effect.gen(function* () {
      const { port, url } = yield* answering("here", { "content-type": "text/plain" })
      const page = Effect.flatMap(Web.Web, (web) => web.fetch({ url }))
      assert.strictEqual((yield* Effect.flip(under({})(page))).code, "WEB_BLOCKED_URL")
      const allowed = yield* under({ DSH_WEB_ALLOW: `10.0.0.0/8, 127.0.0.1:${port}` })(page)
      assert.strictEqual(allowed.body.content, "here")
      const broken = yield* Effect.flip(under({ DSH_WEB_ALLOW: "http://127.0.0.1" })(page))
      assert.include(broken.message, `holds "http://127.0.0.1", which is no host`)
    })
  )

  it.scopedLive("searches where its keys and its choice say", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* answering(
        JSON.stringify({ content: [{ type: "web_search_tool_result", content: [] }] }),
        {}
      )
      const deepseek = { DEEPSEEK_API_KEY: "sk-1", DEEPSEEK_SEARCH_BASE_URL: `${url}/v1/` }
      assert.deepStrictEqual((yield* under(deepseek)(search)).sources, [])
      assert.deepStrictEqual(asked, ["/v1/messages"])
      const both = { ...deepseek, EXA_API_KEY: "k" }
      const ambiguous = yield* Effect.flip(under(both)(search))
      assert.include(ambiguous.message, "deepseek-official, exa. Set DSH_WEB_SEARCH_PROVIDER")
      yield* under({ ...both, DSH_WEB_SEARCH_PROVIDER: "deepseek-official" })(search)
      assert.strictEqual(asked.length, 2)
      const lacking = yield* Effect.flip(under({ DSH_WEB_SEARCH_PROVIDER: "perplexity" })(search))
      assert.strictEqual(lacking.code, "WEB_PROVIDER_CONFIGURED_UNAVAILABLE")
    })
  )

  it.effect("has two tools and says how to use them", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        (yield* Tools.Tools).list().map(({ name }) => name),
        ["web_fetch", "web_search"]
      )
      const sections = (yield* SystemPrompt.SystemPrompt).sections().map(({ name, order }) => `${order} ${name}`)
      assert.deepStrictEqual(sections, ["110 web_search", "111 web_fetch"])
    }).pipe(under({}))
  )
})
