// What a library gets to see, and what the provider gets to see of it. The rest is in the contract of the adapters that are over a library.
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as LibraryTransport from "@dsh/llm/LibraryTransport"
import type { Options } from "@dsh/llm/LibraryTransport"
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Redacted } from "effect"

const limits = { transportIdle: 60_000, contentIdle: 60_000, queued: 60_000 }
const asking = '{"stream":true}'
const paths = { "chat-completions": "/chat/completions", responses: "/responses", messages: "/v1/messages" }

const exchanging = (reply: Reply.Reply, options: Partial<Options> = {}) =>
  Effect.gen(function* () {
    const server = yield* MockLlm.make({ script: Script.sequence([reply], "last"), strict: false })
    const client = yield* HttpClientNode.make
    const transport = yield* Effect.provideService(LibraryTransport.make, HttpClient.HttpClient, client)
    const exchange = LibraryTransport.open(transport, {
      dialect: "chat-completions",
      endpoint: { name: "Mock", url: server.url, keyName: "MOCK_KEY", urlName: "the base URL of Mock" },
      key: "none",
      limits,
      ...options
    })
    const url = `${server.url}${paths[options.dialect ?? "chat-completions"]}`
    const send = (headers: Readonly<Record<string, string>> = {}) =>
      Effect.tryPromise(() => exchange.fetch(url, { method: "POST", body: asking, headers }))
    return { exchange, send, server, url }
  })

const read = (response: Response) => Effect.tryPromise(() => response.text())

const chat = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

/** The events a library reads, by what is in them. */
const deltas = (body: string): ReadonlyArray<unknown> =>
  body
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map(
      (event) => JSON.parse(event.slice(6)) as { choices: ReadonlyArray<{ delta: unknown; finish_reason: unknown }> }
    )
    .flatMap(({ choices }) => choices.map(({ delta, finish_reason }) => finish_reason ?? delta))

describe("a library's request", () => {
  it.scopedLive("leaves with our name and key, and without what the library says of the machine", () =>
    Effect.gen(function* () {
      const key = Redacted.make("sk-ours-123456")
      const { send, server } = yield* exchanging(Reply.text("hi"), {
        key,
        headers: { "X-Title": "dsh", "x-secret": Redacted.make("hush-hush") }
      })
      yield* send({
        "user-agent": "OpenAI/JS",
        authorization: "Bearer of-the-library",
        "x-api-key": "of-the-library",
        "openai-organization": "from-the-environment",
        "x-stainless-os": "Linux",
        traceparent: "00-1-2-3",
        "anthropic-version": "2023-06-01"
      })
      const [sent] = yield* server.requests
      const { accept, authorization, "user-agent": userAgent, ...rest } = sent?.headers ?? {}
      assert.strictEqual(accept, "text/event-stream")
      assert.strictEqual(authorization, "Bearer sk-ours-123456")
      assert.match(userAgent ?? "", /^dsh\//)
      assert.deepStrictEqual([rest["x-title"], rest["x-secret"]], ["dsh", "hush-hush"])
      assert.strictEqual(rest["anthropic-version"], "2023-06-01")
      const leaked = Object.keys(rest).filter((name) => /stainless|trace|organization|x-api-key/.test(name))
      assert.deepStrictEqual(leaked, [])
    })
  )

  it.scopedLive("carries the key where its dialect has it, none, or the library's", () =>
    Effect.gen(function* () {
      const theirs = { authorization: "Bearer theirs-123456", "x-api-key": "theirs-123456" }
      const sent = (options: Partial<Options>) =>
        Effect.gen(function* () {
          const { send, server } = yield* exchanging(Reply.text("hi"), options)
          yield* Effect.ignore(send(theirs))
          const { authorization, "x-api-key": apiKey } = (yield* server.requests)[0]?.headers ?? {}
          return [authorization, apiKey]
        })
      const key = Redacted.make("ours-123456")
      assert.deepStrictEqual(yield* sent({ key, dialect: "messages" }), [undefined, "ours-123456"])
      assert.deepStrictEqual(yield* sent({ key, dialect: "responses" }), ["Bearer ours-123456", undefined])
      assert.deepStrictEqual(yield* sent({ key: "none" }), [undefined, undefined])
      assert.deepStrictEqual(yield* sent({ key: "library" }), Object.values(theirs))
    })
  )

  it.scopedLive("hides the library's own key from what is shown of a failure", () =>
    Effect.gen(function* () {
      const { exchange, send } = yield* exchanging(Reply.error(401, { message: "no such key: theirs-123456" }), {
        key: "library"
      })
      yield* send({ authorization: "Bearer theirs-123456" })
      assert.notInclude(exchange.failure()?.message ?? "theirs-123456", "theirs-123456")
      assert.strictEqual(exchange.conceal("theirs-123456"), "[concealed]")
    })
  )
})

describe("a library's response", () => {
  it.scopedLive("is the answer as the specification has it, whatever the provider made of it", () =>
    Effect.gen(function* () {
      const body =
        "\uFEFF: ping\r\n\r\n" +
        chat({ role: "assistant", reasoning: "hm", content: [{ type: "text", text: "a" }], tool_calls: "no" }) +
        chat({ tool_calls: [{ function: { name: "read", arguments: { p: 1 } } }] }) +
        chat({ tool_calls: [{ id: 7, function: { name: "bash", arguments: '{"c"' } }] }) +
        chat({ tool_calls: [{ function: { arguments: ":1}" } }] }, "FUNCTION_CALL") +
        `data: {"choices":"none","usage":{"prompt_tokens":5,"completion_tokens":3,"prompt_cache_hit_tokens":2}}\n\n`
      const { exchange, send } = yield* exchanging(Reply.sse(body))
      const response = yield* send()
      assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
      const text = yield* read(response)
      const call = (index: number, id: string, name: string, args: string) => ({
        tool_calls: [{ index, id, type: "function", function: { name, arguments: args } }]
      })
      assert.deepStrictEqual(deltas(text), [
        { reasoning: "hm" },
        { content: "a" },
        call(0, "call_relayed_1", "read", '{"p":1}'),
        call(1, "7", "bash", '{"c"'),
        { tool_calls: [{ index: 1, function: { arguments: ":1}" } }] },
        "tool_calls"
      ])
      assert.isTrue(text.endsWith("data: [DONE]\n\n"))
      assert.include(text, '"prompt_tokens":5,"completion_tokens":3,"total_tokens":8')
      assert.strictEqual(exchange.finish(), "FUNCTION_CALL")
      assert.deepStrictEqual(exchange.usage(), { inputTokens: 3, outputTokens: 3, cacheReadTokens: 2 })
      assert.isUndefined(exchange.failure())
    })
  )

  it.scopedLive("is a refusal with the provider's status, or none at all", () =>
    Effect.gen(function* () {
      const refused = yield* exchanging(Reply.error(429, { message: "slow down" }, { "retry-after": "7" }))
      const response = yield* refused.send()
      assert.strictEqual(response.status, 429)
      assert.include(yield* read(response), "slow down")
      const { code, providerRetryAfterMs } = refused.exchange.failure() ?? {}
      assert.deepStrictEqual([code, providerRetryAfterMs], ["RATE_LIMIT", 7000])
      for (const [reply, expected] of [
        [Reply.reset, "TRANSPORT"],
        [Reply.http(200, { body: "<html>" }), "INVALID_RESPONSE"]
      ] as const) {
        const { exchange, send } = yield* exchanging(reply)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(send())))
        assert.strictEqual(exchange.failure()?.code, expected)
      }
    })
  )

  it.scopedLive("breaks off where the provider's does", () =>
    Effect.gen(function* () {
      const { exchange, send } = yield* exchanging(Reply.sse(chat({ content: "a" })))
      const response = yield* send()
      assert.isTrue(Exit.isFailure(yield* Effect.exit(read(response))))
      assert.strictEqual(exchange.failure()?.code, "STREAM_CLOSED")
    })
  )

  it.scopedLive("is the same for a library that takes a client", () =>
    Effect.gen(function* () {
      const { exchange, server, url } = yield* exchanging(Reply.text(["a", "b"]))
      const post = HttpClientRequest.bodyText(HttpClientRequest.post(url), asking, "application/json")
      const response = yield* Effect.withSpan(exchange.client.execute(post), "caller")
      assert.deepStrictEqual(deltas(yield* response.text), [{ content: "a" }, { content: "b" }, "stop"])
      const names = Object.keys((yield* server.requests)[0]?.headers ?? {})
      assert.deepStrictEqual(
        names.filter((name) => /trace|b3/.test(name)),
        []
      )
      const down = yield* exchanging(Reply.reset)
      const error = yield* Effect.flip(down.exchange.client.execute(post.pipe(HttpClientRequest.setUrl(down.url))))
      assert.strictEqual(error._tag, "RequestError")
      assert.strictEqual(down.exchange.failure()?.code, "TRANSPORT")
    })
  )

  it.scopedLive("goes on when the reader is ready, and not before", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      const whenIdle = Effect.zipRight(Deferred.succeed(asked, undefined), Deferred.await(gate))
      const reply = Reply.sse(chat({ content: "a" }) + chat({ content: "b" }, "stop"), { cuts: [70] })
      const { send } = yield* exchanging(reply, { whenIdle })
      const response = yield* send()
      const reading = yield* Effect.fork(read(response))
      yield* Deferred.await(asked)
      assert.isNull(reading.unsafePoll())
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(deltas(yield* Fiber.join(reading)), [{ content: "a" }, { content: "b" }, "stop"])
    })
  )

  it.scopedLive("ends when it is closed, aborted or never begun", () =>
    Effect.gen(function* () {
      const stalling = () => exchanging(Reply.sse(chat({ content: "a" }), { ending: "hold" }))
      const closed = yield* stalling()
      const reading = yield* Effect.fork(Effect.exit(Effect.flatMap(closed.send(), read)))
      yield* closed.server.awaitRequests(1)
      yield* closed.exchange.close
      assert.isTrue(Exit.isFailure(yield* Fiber.join(reading)))
      yield* closed.server.awaitClosedEarly(1)

      const aborted = yield* stalling()
      const controller = new AbortController()
      const response = yield* Effect.tryPromise(() =>
        aborted.exchange.fetch(aborted.url, { method: "POST", body: asking, signal: controller.signal })
      )
      controller.abort()
      assert.isTrue(Exit.isFailure(yield* Effect.exit(read(response))))
      yield* aborted.server.awaitClosedEarly(1)

      const unused = yield* stalling()
      yield* unused.exchange.close
      assert.isTrue(Exit.isFailure(yield* Effect.exit(unused.send())))
      assert.deepStrictEqual(yield* unused.server.requests, [])
    })
  )

  it.scopedLive("has long arguments in pieces that grow with the whole", () =>
    Effect.gen(function* () {
      const content = "x".repeat(40_000)
      const args = JSON.stringify({ content })
      const reply = Reply.toolCalls([{ name: "write", arguments: args, fragments: 4 }], { usage: null })
      for (const [dialect, field] of [
        ["chat-completions", /"arguments":"((?:[^"\\]|\\.)*)"/g],
        ["responses", /"delta":"((?:[^"\\]|\\.)*)"/g],
        ["messages", /"partial_json":"((?:[^"\\]|\\.)*)"/g]
      ] as const) {
        const { send } = yield* exchanging(reply, { dialect })
        const pieces = Array.from((yield* read(yield* send())).matchAll(field), ([, piece]) => JSON.parse(`"${piece}"`))
        assert.strictEqual(pieces.join(""), args)
        assert.isBelow(pieces.length, 250, dialect)
        assert.isAbove(pieces.length, 50, dialect)
      }
    })
  )
})
