import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { ask, chunks, collect } from "./support/DeepSeek.ts"
import type { Answer } from "./support/DeepSeek.ts"

const text = ({ message }: Answer) => message.blocks.flatMap((b) => (b.type === "text" ? b.text : [])).join("")

/** How an answer ended, in one word: the code of the failure or the kind of the finish. */
const ending = ({ error, message }: Answer) =>
  error?.code ?? (message.finish.kind === "error" ? message.finish.failure.code : message.finish.kind)

const frame = (delta: unknown, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

const whole = `${frame({ content: "中文" })}${frame({ content: "🐋 é" })}${frame({}, "stop")}data: [DONE]\n\n`

describe("an answer", () => {
  it.live("of every kind", () =>
    Effect.gen(function* () {
      const calls = [
        { id: "c1", name: "read", arguments: { path: "a" }, fragments: 3 },
        { id: "c2", name: "bash", arguments: { command: "ls" } }
      ]
      const answer = yield* ask(
        Reply.message({
          reasoning: "because",
          text: "so",
          toolCalls: calls,
          usage: { prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 6 }
        })
      )
      assert.deepStrictEqual(answer.message.blocks as ReadonlyArray<unknown>, [
        { type: "reasoning", text: "because" },
        { type: "text", text: "so" },
        { type: "tool-call", id: "c1", name: "read", arguments: '{"path":"a"}' },
        { type: "tool-call", id: "c2", name: "bash", arguments: '{"command":"ls"}' }
      ])
      assert.strictEqual(ending(answer), "tool-calls")
      assert.deepStrictEqual(answer.message.usage, { inputTokens: 6, outputTokens: 5, cacheReadTokens: 4 })
      assert.deepStrictEqual(
        answer.chunks.slice(-2).map((c) => c.type),
        ["usage", "finish"]
      )
    })
  )

  it.live("is the same however its bytes are framed and cut", () =>
    Effect.gen(function* () {
      for (const eol of ["\n", "\r\n", "\r"]) {
        const body = whole.replaceAll("\n", eol).replaceAll("data: ", eol === "\n" ? "data: " : "data:")
        const answer = yield* ask(Reply.sse(body, { cuts: "every-byte" }))
        assert.deepStrictEqual([text(answer), ending(answer)], ["中文🐋 é", "stop"])
      }
      const bytes = new TextEncoder().encode(`\uFEFF: hi\n\n${whole}`)
      const server = yield* MockLlm.make({
        script: Script.respond((request) => Reply.sse(bytes, { cuts: [request.index + 1] }))
      })
      yield* Effect.forEach(bytes.subarray(1), () =>
        Effect.map(collect(chunks(server.url)), (answer) =>
          assert.deepStrictEqual([text(answer), ending(answer)], ["中文🐋 é", "stop"])
        )
      )
    }).pipe(Effect.scoped, Effect.provide(HttpClientNode.layer))
  )

  it.live("shrugs off comments, keep-alives and wrapped comments", () =>
    Effect.gen(function* () {
      const noise = ":\n\n: keep-alive\n\n: ping\ndata: : OPENROUTER PROCESSING\n\ndata:\n\n"
      const body = whole.split("\n\n").join(`\n\n${noise}`)
      const answer = yield* ask(Reply.sse(noise + body))
      assert.deepStrictEqual([text(answer), ending(answer)], ["中文🐋 é", "stop"])
    })
  )

  it.live("travels as one batch per network read", () =>
    Effect.gen(function* () {
      const server = yield* MockLlm.make({ script: Script.sequence([Reply.text(Array.from({ length: 100 }, String))]) })
      const sizes: Array<number> = []
      yield* Stream.runForEachChunk(chunks(server.url), (batch) => Effect.sync(() => void sizes.push(batch.length)))
      assert.isTrue(Math.max(...sizes) > 50, String(sizes))
    }).pipe(Effect.scoped, Effect.provide(HttpClientNode.layer))
  )

  it.live("that the server did not stream", () =>
    Effect.gen(function* () {
      const completion = {
        choices: [{ message: { role: "assistant", content: "plain" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 1 }
      }
      const answer = yield* ask(Reply.http(200, { body: completion }))
      assert.deepStrictEqual([text(answer), ending(answer)], ["plain", "stop"])
      const padded = yield* ask(Reply.http(200, { body: `\n\n${JSON.stringify(completion, null, 2)}\n` }))
      assert.deepStrictEqual([text(padded), ending(padded)], ["plain", "stop"])
    })
  )

  it.live("is over at [DONE], though the connection stays open", () =>
    Effect.gen(function* () {
      const done = yield* ask(Reply.text("a", { ending: "hold" }))
      assert.deepStrictEqual([text(done), ending(done)], ["a", "stop"])
    })
  )

  it.live("survives what happens after [DONE]", () =>
    Effect.gen(function* () {
      const answer = yield* ask(Reply.sse(`${whole}${frame({ content: "more" })}data: {"error":{"message":"x"}}\n\n`))
      assert.deepStrictEqual([text(answer), ending(answer)], ["中文🐋 é", "stop"])
    })
  )
})

describe("an answer that ends badly", () => {
  const cut = (body: string, how: "end" | "reset" = "end") => ask(Reply.sse(body, { ending: how }))
  const begun = frame({ content: "a" })

  it.live("without finish or [DONE], at whatever byte it ends", () =>
    Effect.gen(function* () {
      const answer = yield* cut(begun)
      assert.deepStrictEqual([text(answer), ending(answer)], ["a", "STREAM_CLOSED"])
      const bytes = new TextEncoder().encode(begun + frame({ content: "中" }))
      const server = yield* MockLlm.make({
        script: Script.respond((request) => Reply.sse(bytes.subarray(0, request.index + 1)))
      })
      yield* Effect.forEach(bytes, () =>
        Effect.map(collect(chunks(server.url)), (at) => {
          assert.strictEqual(ending(at), "STREAM_CLOSED")
          assert.include(["", "a", "a中"], text(at))
        })
      )
    }).pipe(Effect.scoped, Effect.provide(HttpClientNode.layer))
  )

  it.live("with a finish but no [DONE] is complete, usage or not", () =>
    Effect.gen(function* () {
      assert.strictEqual(ending(yield* cut(begun + frame({}, "stop"))), "stop")
      assert.strictEqual(ending(yield* cut(begun + frame({}, "stop"), "reset")), "stop")
      const half = `data: {"choices":[],"usage":{"prompt_to`
      assert.strictEqual(ending(yield* cut(begun + frame({}, "stop") + half)), "stop")
      const usage = `data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`
      const { message } = yield* cut(begun + frame({}, "stop") + usage)
      assert.deepStrictEqual(message.usage, { inputTokens: 1, outputTokens: 1 })
    })
  )

  it.live("with finish_reason null throughout", () =>
    Effect.gen(function* () {
      assert.strictEqual(ending(yield* cut(`${begun}data: [DONE]\n\n`)), "stop")
      assert.strictEqual(ending(yield* cut(begun)), "STREAM_CLOSED")
    })
  )

  it.live("with nothing said", () =>
    Effect.gen(function* () {
      assert.strictEqual(ending(yield* ask(Reply.behaviour("empty"))), "EMPTY_RESPONSE")
      assert.strictEqual(ending(yield* ask(Reply.behaviour("empty_body"))), "EMPTY_RESPONSE")
      assert.strictEqual(ending(yield* ask(Reply.http(204))), "EMPTY_RESPONSE")
      assert.strictEqual(ending(yield* ask(Reply.behaviour("stream_eof"))), "STREAM_CLOSED")
      const thought = yield* ask(Reply.message({ reasoning: "hm", usage: { prompt_tokens: 1, completion_tokens: 2 } }))
      assert.strictEqual(ending(thought), "EMPTY_RESPONSE")
      assert.deepStrictEqual(thought.message.usage, { inputTokens: 1, outputTokens: 2 })
    })
  )

  it.live("with a reset, after words or after a whole tool call", () =>
    Effect.gen(function* () {
      const words = yield* ask(Reply.behaviour("partial_disconnect"))
      assert.deepStrictEqual([text(words), ending(words)], ["Hello from the mock", "TRANSPORT"])
      assert.strictEqual(ending(yield* ask(Reply.behaviour("stream_disconnect"))), "TRANSPORT")
      assert.strictEqual(ending(yield* ask(Reply.behaviour("connection_reset"))), "TRANSPORT")
      const called = yield* ask(
        Reply.deltas([{ tool_calls: [{ index: 0, id: "c", function: { name: "read", arguments: "{}" } }] }], {
          finish: null,
          done: false,
          ending: "reset"
        })
      )
      assert.strictEqual(ending(called), "TRANSPORT")
      assert.isFalse(called.chunks.some((c: StreamChunk) => c.type === "finish"))
    })
  )

  it.live("with an error inside the stream", () =>
    Effect.gen(function* () {
      const failing = (error: unknown) => cut(`${begun}data: ${JSON.stringify({ error })}\n\n`)
      const overloaded = yield* failing({ message: "overloaded", type: "server_error" })
      assert.deepStrictEqual([text(overloaded), ending(overloaded)], ["a", "SERVER"])
      assert.match(overloaded.error?.requestId ?? "", /^mock-/)
      const overflow = yield* failing({ message: "prompt is too long" })
      assert.strictEqual(ending(overflow), "CONTEXT_WINDOW_EXCEEDED")
    })
  )

  it.live("with an event that is no JSON, or none that fits", () =>
    Effect.gen(function* () {
      const malformed = yield* ask(Reply.behaviour("malformed_json"))
      assert.strictEqual(ending(malformed), "MALFORMED_RESPONSE")
      assert.isTrue((malformed.error?.message.length ?? 999) < 300)
      assert.strictEqual(ending(yield* ask(Reply.behaviour("malformed_event"))), "EMPTY_RESPONSE")
    })
  )

  it.live("with a web page, or a document that is no completion", () =>
    Effect.gen(function* () {
      const page = yield* ask(Reply.behaviour("wrong_content_type"))
      assert.strictEqual(ending(page), "INVALID_RESPONSE")
      assert.include(page.error?.message, "502 Bad Gateway")
      assert.strictEqual(ending(yield* ask(Reply.http(200, { body: { hello: 1 } }))), "INVALID_RESPONSE")
      assert.strictEqual(ending(yield* ask(Reply.http(200, { body: '{"choices":[{"mess' }))), "INVALID_RESPONSE")
      const failed = yield* ask(Reply.http(200, { body: { error: { message: "Rate limit reached" } } }))
      assert.strictEqual(ending(failed), "RATE_LIMIT")
    })
  )

  it.live("with a refusal", () =>
    Effect.gen(function* () {
      const code = (name: Reply.BehaviourName) => Effect.map(ask(Reply.behaviour(name)), ending)
      assert.strictEqual(yield* code("rate_limit"), "RATE_LIMIT")
      assert.strictEqual(yield* code("server_error"), "SERVER")
      assert.strictEqual(yield* code("service_unavailable"), "SERVER")
      assert.strictEqual(yield* code("auth_error"), "AUTH")
      assert.strictEqual(yield* code("invalid_request"), "INVALID_REQUEST")
      assert.strictEqual(yield* code("context_overflow"), "CONTEXT_WINDOW_EXCEEDED")
      assert.strictEqual(yield* code("quota_exceeded"), "QUOTA")
      const limited = yield* ask(Reply.error(429, { message: "slow" }, { "retry-after": "2", "x-request-id": "r9" }))
      assert.deepStrictEqual(limited.error?.failure, {
        code: "RATE_LIMIT",
        message: "slow; DeepSeek asks to wait 2 s",
        status: 429,
        providerRetryAfterMs: 2000,
        requestId: "r9"
      })
      const huge = yield* ask(Reply.http(500, { body: "x".repeat(1_000_000) }))
      assert.isTrue((huge.error?.message.length ?? 999) < 300)
    })
  )
})

describe("cancellation", () => {
  const cancelled = (reply: Reply.Reply, when: "headers" | "content") =>
    Effect.gen(function* () {
      const server = yield* MockLlm.make({ script: Script.sequence([reply]) })
      const begun = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        Stream.runForEachChunk(chunks(server.url), () => Deferred.succeed(begun, undefined))
      )
      yield* when === "content" ? Deferred.await(begun) : server.awaitRequests(1)
      yield* Fiber.interrupt(fiber)
      const [entry] = yield* server.awaitClosedEarly(1)
      assert.strictEqual(entry?.outcome, "closed-early")
    }).pipe(Effect.scoped, Effect.provide(HttpClientNode.layer))

  it.live("reaches the socket before the response, before its first byte and in its midst", () =>
    Effect.gen(function* () {
      yield* cancelled(Reply.http(200, { delayMs: 60_000 }), "headers")
      yield* cancelled(Reply.behaviour("stall"), "headers")
      yield* cancelled(Reply.text("a", { ending: "hold", finish: null, done: false }), "content")
    })
  )

  it.live("also when the consumer simply stops", () =>
    Effect.gen(function* () {
      const server = yield* MockLlm.make({
        script: Script.sequence([Reply.text(["a", "b"], { ending: "hold", finish: null, done: false })])
      })
      yield* Stream.runDrain(Stream.take(chunks(server.url), 1))
      yield* server.awaitClosedEarly(1)
    }).pipe(Effect.scoped, Effect.provide(HttpClientNode.layer))
  )

  it.live("a consumer that reads slowly holds the provider back and loses nothing", () =>
    Effect.gen(function* () {
      const deltas = Array.from({ length: 30_000 }, (_, i) => `${i} `)
      const server = yield* MockLlm.make({ script: Script.sequence([Reply.text(deltas)]) })
      let seen = ""
      yield* Stream.runForEachChunk(chunks(server.url), (batch) =>
        Effect.zipRight(
          Effect.yieldNow(),
          Effect.sync(() => {
            for (const chunk of batch) if (chunk.type === "text-delta") seen += chunk.text
          })
        )
      )
      assert.strictEqual(seen, deltas.join(""))
    }).pipe(Effect.scoped, Effect.provide(HttpClientNode.layer))
  )
})
