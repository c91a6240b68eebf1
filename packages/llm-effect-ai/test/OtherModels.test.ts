// Models whose wire format nobody here knows, and models without one: what holds without the transport.
import * as LlmEffectAi from "@dsh/llm-effect-ai/LlmEffectAi"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as AiResponse from "@effect/ai/Response"
import { HttpClient, HttpClientError, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { ask } from "./support.ts"

type Part = AiResponse.StreamPartEncoded

const streaming = (parts: Stream.Stream<Part, AiError.AiError>) =>
  Layer.effect(
    LanguageModel.LanguageModel,
    LanguageModel.make({ generateText: () => Effect.succeed([]), streamText: () => parts })
  )

const over = (model: LlmEffectAi.Options["model"], timeouts: object = {}) =>
  Effect.gen(function* () {
    const client = yield* HttpClientNode.make
    const adapter = yield* Effect.provideService(
      LlmEffectAi.make({ provider: "bridge", model, ...timeouts }),
      HttpClient.HttpClient,
      client
    )
    return yield* ask(adapter, { header: { tools } })
  }).pipe(Effect.scoped)

const tools = [{ name: "read", description: "Reads.", parameters: { type: "object" } }]

const usage = { inputTokens: 10, outputTokens: 3, totalTokens: 13, cachedInputTokens: 4, reasoningTokens: 1 }
const finish = (reason: AiResponse.FinishReason): Part => ({ type: "finish", reason, usage })
const text: ReadonlyArray<Part> = [
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: "hello" },
  { type: "text-end", id: "t" }
]
const answer = (parts: ReadonlyArray<Part>) => over(() => streaming(Stream.fromIterable(parts)))

describe("a model of any kind", () => {
  it.live("answers with what its parts say", () =>
    Effect.gen(function* () {
      const call = { type: "tool-call", id: "c", name: "read", params: { p: 1, q: [2] } } as const
      const { finish: ending, message, usage: counted } = yield* answer([...text, call, finish("tool-calls")])
      assert.deepStrictEqual(ending, { kind: "tool-calls" })
      assert.deepStrictEqual(message.content, [
        { type: "text", text: "hello" },
        { type: "tool-call", id: "c", name: "read", arguments: '{"p":1,"q":[2]}' } as never
      ])
      const buckets = { inputTokens: 6, outputTokens: 3, cacheReadTokens: 4, reasoningTokens: 1 }
      assert.deepStrictEqual(counted, buckets)
      const cut = yield* answer([...text, finish("length")])
      assert.deepStrictEqual(cut.finish, { kind: "max-tokens" })
      const filtered = yield* answer([...text, finish("content-filter")])
      const { code, message: advice } = filtered.finish.kind === "error" ? filtered.finish.failure : {}
      assert.strictEqual(code, "CONTENT_FILTER")
      assert.include(advice, "rephrase")
    })
  )

  it.live("that stops without an end, reports an error or goes silent has failed", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(answer(text))).code, "STREAM_CLOSED")
      const reported = yield* Effect.flip(answer([...text, { type: "error", error: "overloaded" }, finish("error")]))
      assert.strictEqual(reported.code, "EFFECT_AI_ERROR")
      assert.include(reported.message, "overloaded")
      const endless = () => streaming(Stream.concat(Stream.fromIterable(text), Stream.never))
      assert.strictEqual((yield* Effect.flip(over(endless, { contentIdleTimeoutMs: 50 }))).code, "TIMEOUT")
      const unread = new AiError.MalformedOutput({ module: "M", method: "m", description: "what is this" })
      assert.strictEqual((yield* Effect.flip(over(() => streaming(Stream.fail(unread))))).code, "MALFORMED_RESPONSE")
      const broken = yield* Effect.flip(over(() => streaming(Stream.dieMessage("a bug of theirs"))))
      assert.strictEqual(broken.code, "EFFECT_AI_ERROR")
      assert.include(broken.message, "a bug of theirs")
    })
  )
})

describe("a wire format that nobody knows", () => {
  /** Asks a path that is no known one, and takes whatever comes for an answer. */
  const speaking =
    (url: string): LlmEffectAi.Options["model"] =>
    () =>
      Layer.unwrapEffect(
        Effect.map(HttpClient.HttpClient, (client) =>
          streaming(
            Stream.unwrap(
              Effect.map(client.pipe(HttpClient.filterStatusOk).execute(HttpClientRequest.post(url)), () =>
                Stream.fromIterable([...text, finish("stop")])
              ).pipe(Effect.mapError(failed))
            )
          )
        )
      )

  const failed = (error: HttpClientError.HttpClientError) =>
    error._tag === "RequestError"
      ? AiError.HttpRequestError.fromRequestError({ module: "M", method: "m", error })
      : new AiError.UnknownError({ module: "M", method: "m", description: error.message })

  it.live("has our codes for refusals and for servers that cannot be reached", () =>
    Effect.gen(function* () {
      const server = yield* MockLlm.make({ models: { _tag: "Http", status: 429, headers: { "retry-after": "3" } } })
      const missing = yield* Effect.flip(over(speaking(`${server.url}/generate`)))
      assert.deepStrictEqual([missing.code, missing.status], ["HTTP_404", 404])
      const gone = yield* Effect.flip(over(speaking(`${yield* MockLlm.refusedUrl}/generate`)))
      assert.strictEqual(gone.code, "TRANSPORT")
    }).pipe(Effect.scoped)
  )
})

describe("a library that reads ahead", () => {
  const question = (url: string) => HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(url), { stream: true })
  const turns = Effect.repeatN(
    Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void))),
    20
  )

  it.live("and is late with what it has read keeps nobody waiting for the next read", () =>
    Effect.gen(function* () {
      const held = Reply.text("hello", { done: false, finish: null, ending: "hold" })
      const server = yield* MockLlm.make({ strict: false, script: Script.sequence([held]) })
      const model = () =>
        Layer.unwrapEffect(
          Effect.map(HttpClient.HttpClient, (client) => {
            const said = Stream.concat(Stream.drain(Stream.fromEffect(turns)), Stream.fromIterable(text.slice(0, 2)))
            const read = Effect.map(client.execute(question(`${server.url}/responses`)), (response) =>
              Stream.merge(Stream.drain(response.stream), said)
            )
            return streaming(Stream.unwrap(read).pipe(Stream.orDie))
          })
        )
      const client = yield* HttpClientNode.make
      const adapter = yield* Effect.provideService(
        LlmEffectAi.make({ provider: "bridge", model }),
        HttpClient.HttpClient,
        client
      )
      const call = yield* adapter.prepare({ provider: "bridge", model: "m" }, "agent")
      const header = { config: call.config, wire: call.wire }
      const body = { bytes: new Uint8Array(), sha256: "", of: "neutral" as const }
      const chunks = yield* Stream.runCollect(Stream.take(call.stream({ header, messages: [], body }), 2))
      assert.deepStrictEqual(
        [...chunks].map(({ type }) => type),
        ["block-start", "text-delta"]
      )
    }).pipe(Effect.scoped)
  )
})
