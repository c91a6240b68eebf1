import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { json, live, provider, search, secret } from "./support/Providers.ts"
import type { Seen } from "./support/Providers.ts"

describe("SearchExa", () => {
  it.scopedLive("asks for passages, and drops what has none", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* provider(
        json({
          results: [
            {
              url: "https://a.example/x",
              title: "A",
              publishedDate: "2026-01-02T03:04:05Z",
              highlights: ["one", 2, "two"]
            },
            { url: "https://b.example/", highlights: [] },
            { url: "javascript:alert(1)", highlights: ["x"] },
            { title: "no address", highlights: ["x"] },
            "nonsense",
            { url: "https://c.example", title: "", publishedDate: 5, highlights: ["three"] }
          ]
        })
      )
      assert.deepStrictEqual(yield* search("exa", `${url}/`), {
        sources: [
          { url: "https://a.example/x", title: "A", snippet: "one … two", publishedAt: "2026-01-02" },
          { url: "https://c.example/", snippet: "three" }
        ],
        truncated: false
      })
      const [{ body, headers, method, url: asked }] = seen as [Seen]
      assert.strictEqual(`${method} ${asked.pathname}`, "POST /search")
      assert.strictEqual(headers["x-api-key"], secret)
      assert.deepStrictEqual(body, {
        query: "what is new?",
        type: "auto",
        numResults: 5,
        contents: { highlights: { highlightsPerUrl: 1 } }
      })
    }).pipe(live)
  )
})

describe("SearchPerplexity", () => {
  it.scopedLive("has an answer and its sources, in the old form, too", () =>
    Effect.gen(function* () {
      const choices = [{ message: { role: "assistant", content: "This is new [1]." } }]
      const { seen, url } = yield* provider(
        json({
          choices,
          search_results: [{ url: "https://a.example/", title: "A", date: "2026-01-02", snippet: "s" }, {}]
        })
      )
      assert.deepStrictEqual(yield* search("perplexity", url), {
        content: "This is new [1].",
        sources: [{ url: "https://a.example/", title: "A", snippet: "s", publishedAt: "2026-01-02" }],
        truncated: false
      })
      const [{ body, headers, url: asked }] = seen as [Seen]
      assert.strictEqual(asked.pathname, "/chat/completions")
      assert.strictEqual(headers.authorization, `Bearer ${secret}`)
      assert.deepStrictEqual(body, {
        model: "sonar",
        max_tokens: 1024,
        messages: [{ role: "user", content: "what is new?" }]
      })
      const old = yield* provider(json({ choices, citations: ["https://b.example/", 1] }))
      assert.deepStrictEqual((yield* search("perplexity", old.url)).sources, [{ url: "https://b.example/" }])
    }).pipe(live)
  )
})

describe("SearchDeepSeek", () => {
  const result = (url: string, title: string) => ({
    type: "web_search_result",
    url,
    title,
    encrypted_content: "…",
    page_age: "2 days ago"
  })
  const found = (...content: ReadonlyArray<unknown>) => ({
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content
  })

  it.scopedLive("takes the sources from the search, and the answer from the model", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* provider(
        json({
          type: "message",
          stop_reason: "end_turn",
          content: [
            { type: "text", text: "I will search. " },
            { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "new" } },
            found(result("https://a.example/", "A"), result("https://b.example/", "B"), { type: "other" }),
            {
              type: "text",
              text: "This is new.",
              citations: [{ type: "web_search_result_location", url: "https://a.example/", cited_text: "quoted" }]
            }
          ]
        })
      )
      assert.deepStrictEqual(yield* search("deepseek-official", url), {
        content: "I will search. This is new.",
        sources: [
          { url: "https://a.example/", title: "A", snippet: "quoted", publishedAt: "2 days ago" },
          { url: "https://b.example/", title: "B", publishedAt: "2 days ago" }
        ],
        truncated: false
      })
      const [{ body, headers, url: asked }] = seen as [Seen]
      assert.strictEqual(asked.pathname, "/messages")
      assert.strictEqual(headers["x-api-key"], secret)
      assert.strictEqual(headers["anthropic-version"], "2023-06-01")
      assert.deepInclude(body, {
        model: "deepseek-v4-flash",
        max_tokens: 4096,
        tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 5 }]
      })
    }).pipe(live)
  )

  it.scopedLive("takes nobody's word for a search", () =>
    Effect.gen(function* () {
      const prose = { type: "text", text: "See https://a.example/ for all of it." }
      const failures = [
        [{ content: [prose] }, "without a search"],
        [{ content: "https://a.example/" }, "without a search"],
        [{}, "without a search"],
        [
          {
            content: [
              {
                type: "web_search_tool_result",
                content: { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" }
              },
              prose
            ]
          },
          "max_uses_exceeded"
        ]
      ] as const
      for (const [answer, message] of failures) {
        const { url } = yield* provider(json(answer))
        const error = yield* Effect.flip(search("deepseek-official", url))
        assert.strictEqual(error.code, "WEB_PROVIDER_ERROR")
        assert.include(error.message, message)
      }
      const { url } = yield* provider(json({ content: [found(), prose] }))
      assert.deepStrictEqual((yield* search("deepseek-official", url)).sources, [])
    }).pipe(live)
  )
})

describe("SearchWikipedia", () => {
  it.scopedLive("names articles, and itself", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* provider(
        json({
          continue: { sroffset: 5 },
          query: {
            search: [
              {
                title: "Effect system (type)",
                snippet: 'An <span class="searchmatch">effect</span> &amp; &lt;type&gt; &bogus; of'
              },
              { title: "" }
            ]
          }
        })
      )
      const { content, sources, truncated } = yield* search("wikipedia", url)
      assert.include(content, "Wikipedia alone")
      assert.deepStrictEqual(
        { sources, truncated },
        {
          sources: [
            {
              url: `${url}/wiki/Effect_system_(type)`,
              title: "Effect system (type) - Wikipedia",
              snippet: "An effect & <type> &bogus; of"
            }
          ],
          truncated: true
        }
      )
      const [{ headers, method, url: asked }] = seen as [Seen]
      assert.strictEqual(`${method} ${asked.pathname}`, "GET /w/api.php")
      assert.deepInclude(Object.fromEntries(asked.searchParams), {
        srsearch: "what is new?",
        srlimit: "5",
        list: "search"
      })
      assert.match(headers["user-agent"] ?? "", /^dsh\//)
    }).pipe(live)
  )

  it.scopedLive("says why it refuses", () =>
    Effect.gen(function* () {
      const { url } = yield* provider(json({ error: { code: "toolong", info: "too long a query" } }))
      assert.include((yield* Effect.flip(search("wikipedia", url))).message, "too long a query")
    }).pipe(live)
  )
})
