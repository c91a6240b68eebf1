import * as HttpClientNode from "@dsh/http/HttpClientNode"
import type * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import type * as Http from "node:http"
import * as SearchDeepSeek from "../src/SearchDeepSeek.ts"
import * as SearchExa from "../src/SearchExa.ts"
import * as SearchPerplexity from "../src/SearchPerplexity.ts"
import * as SearchWikipedia from "../src/SearchWikipedia.ts"
import type { SearchProvider } from "../src/Web.ts"
import { server } from "./support/Servers.ts"

const secret = "sk-very-secret"
const apiKey = Effect.succeed(Redacted.make(secret))

type Make = (baseUrl: string, timeout?: "100 millis") => Effect.Effect<SearchProvider, never, HttpClient.HttpClient>

const makers: Readonly<Record<string, Make>> = {
  exa: (baseUrl, timeout) => SearchExa.make({ apiKey, baseUrl, ...(timeout !== undefined && { timeout }) }),
  perplexity: (baseUrl, timeout) =>
    SearchPerplexity.make({ apiKey, baseUrl, ...(timeout !== undefined && { timeout }) }),
  "deepseek-official": (baseUrl, timeout) =>
    SearchDeepSeek.make({ apiKey, baseUrl, ...(timeout !== undefined && { timeout }) }),
  wikipedia: (baseUrl, timeout) => SearchWikipedia.make({ baseUrl, ...(timeout !== undefined && { timeout }) })
}

interface Seen {
  readonly method: string | undefined
  readonly url: URL
  readonly headers: Http.IncomingHttpHeaders
  readonly body: unknown
}

/** A provider that answers, and what it was asked. */
const provider = (answer: (response: Http.ServerResponse) => void) =>
  Effect.gen(function* () {
    const seen: Array<Seen> = []
    const listening = yield* server((request, response) => {
      let body = ""
      request.setEncoding("utf8").on("data", (text: string) => (body += text))
      request.on("end", () => {
        const { headers, method, url } = request
        seen.push({
          method,
          url: new URL(url ?? "", "http://x"),
          headers,
          body: body === "" ? undefined : JSON.parse(body)
        })
        answer(response)
      })
    })
    return { ...listening, seen }
  })

const json =
  (value: unknown, status = 200) =>
  (response: Http.ServerResponse): void =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))

const search = (id: string, baseUrl: string, timeout?: "100 millis") =>
  Effect.flatMap(makers[id]!(baseUrl, timeout), (made) => made.search({ query: "what is new?", maxResults: 5 }))

const live = Effect.provide(HttpClientNode.layerWith({ proxy: false }))

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
