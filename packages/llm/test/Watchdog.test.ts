import type { Settings } from "@dsh/llm/LlmDeepSeek"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Mailbox, Stream, TestClock } from "effect"
import { chunks, collect } from "./support/DeepSeek.ts"

/** A provider whose bytes the test hands out one by one, while time stands still. */
const provider = Effect.gen(function* () {
  const bytes = yield* Mailbox.make<Uint8Array>()
  const client = HttpClient.make((request) =>
    Effect.succeed(HttpClientResponse.fromWeb(request, new Response(Stream.toReadableStream(Mailbox.toStream(bytes)))))
  )
  return {
    layer: Layer.succeed(HttpClient.HttpClient, client),
    send: (text: string) => bytes.offer(new TextEncoder().encode(text))
  }
})

const settings: Settings = { streamIdleTimeoutMs: 300_000, contentIdleTimeoutMs: 120_000, queueTimeoutMs: 600_000 }
const keepAlive = ": keep-alive\n\n"
const content = `data: {"choices":[{"delta":{"content":"a"}}]}\n\n`

/** Web streams need turns of the event loop to hand their bytes on. */
const settle = Effect.async<void>((resume) => {
  let turns = 0
  const next = () => (turns++ < 20 ? setImmediate(next) : resume(Effect.void))
  next()
})

const advance = (duration: number) => Effect.zipRight(settle, Effect.zipRight(TestClock.adjust(duration), settle))

const start = Effect.gen(function* () {
  const { layer, send } = yield* provider
  const fiber = yield* Effect.fork(
    Effect.scoped(Effect.provide(collect(chunks("http://provider", { settings })), layer))
  )
  const isDone = Effect.map(Fiber.poll(fiber), (exit) => exit._tag === "Some")
  return { fiber, isDone, send: (text: string) => Effect.zipRight(send(text), settle) }
})

describe("Watchdog", () => {
  it.effect("silence is a timeout", () =>
    Effect.gen(function* () {
      const { fiber, isDone } = yield* start
      yield* advance(299_999)
      assert.isFalse(yield* isDone)
      yield* advance(1)
      const { error } = yield* Fiber.join(fiber)
      assert.strictEqual(error?.code, "TIMEOUT")
      assert.isTrue(error?.isRetryable)
      assert.include(error?.message, "sent nothing for 300 s")
    })
  )

  it.effect("keep-alives hold a queued request for ten minutes and no longer", () =>
    Effect.gen(function* () {
      const { fiber, isDone, send } = yield* start
      for (let minute = 0; minute < 9; minute++) {
        yield* advance(60_000)
        yield* send(keepAlive)
      }
      yield* advance(59_999)
      assert.isFalse(yield* isDone)
      yield* advance(1)
      const { error } = yield* Fiber.join(fiber)
      assert.strictEqual(error?.code, "TIMEOUT")
      assert.include(error?.message, "did not begin its answer for 600 s")
    })
  )

  it.effect("keep-alives do not hold an answer that has begun", () =>
    Effect.gen(function* () {
      const { fiber, isDone, send } = yield* start
      yield* send(content)
      for (let i = 0; i < 3; i++) {
        yield* advance(30_000)
        yield* send(keepAlive)
      }
      yield* advance(29_999)
      assert.isFalse(yield* isDone)
      yield* advance(1)
      const { chunks: seen, error } = yield* Fiber.join(fiber)
      assert.strictEqual(error?.code, "TIMEOUT")
      assert.include(error?.message, "nothing more of its answer for 120 s")
      assert.deepStrictEqual(
        seen.map((c) => c.type),
        ["block-start", "text-delta"]
      )
    })
  )

  it.effect("each piece of the answer gives it as much time again", () =>
    Effect.gen(function* () {
      const { fiber, send } = yield* start
      for (let i = 0; i < 10; i++) {
        yield* send(content)
        yield* advance(110_000)
      }
      yield* send(`data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`)
      yield* advance(1000)
      const { error, message } = yield* Fiber.join(fiber)
      assert.isUndefined(error)
      assert.strictEqual(message.blocks.length, 1)
    })
  )

  it.effect("a finished answer is complete after a moment, whatever keeps the connection open", () =>
    Effect.gen(function* () {
      const { fiber, isDone, send } = yield* start
      yield* send(`${content}data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n`)
      yield* advance(1000)
      yield* send(`${keepAlive}data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\n`)
      yield* advance(999)
      yield* send(keepAlive)
      assert.isFalse(yield* isDone)
      yield* advance(1)
      yield* advance(100)
      const { error, message } = yield* Fiber.join(fiber)
      assert.isUndefined(error)
      assert.deepStrictEqual(message.finish, { kind: "stop" })
      assert.deepStrictEqual(message.usage, { inputTokens: 1, outputTokens: 1 })
    })
  )

  it.effect("a server that does not even answer is a timeout", () =>
    Effect.gen(function* () {
      const client = HttpClient.make(() => Effect.never)
      const fiber = yield* Effect.fork(
        Effect.scoped(
          Effect.provideService(collect(chunks("http://provider", { settings })), HttpClient.HttpClient, client)
        )
      )
      yield* advance(300_000)
      assert.strictEqual((yield* Fiber.join(fiber)).error?.code, "TIMEOUT")
    })
  )

  it.effect("the time a consumer takes is not the provider's", () =>
    Effect.gen(function* () {
      const { layer, send } = yield* provider
      const seen: Array<string> = []
      const fiber = yield* Effect.fork(
        Stream.runForEachChunk(chunks("http://provider", { settings }), (batch) =>
          Effect.zipRight(
            Effect.sync(() => void seen.push(...[...batch].map((c) => c.type))),
            Effect.sleep(200_000 * batch.length)
          )
        ).pipe(Effect.scoped, Effect.provide(layer))
      )
      // All of it waits for the consumer, who needs more time than the provider has.
      for (let i = 0; i < 40; i++) yield* Effect.zipRight(send(content), settle)
      for (let i = 0; i < 30; i++) yield* advance(200_000)
      assert.isTrue(yield* Effect.map(Fiber.poll(fiber), (exit) => exit._tag === "None"))
      yield* send("data: [DONE]\n\n")
      for (let i = 0; i < 40; i++) yield* advance(200_000)
      yield* Fiber.join(fiber)
      assert.strictEqual(seen.filter((type) => type === "text-delta").length, 40)
      assert.strictEqual(seen.at(-1), "finish")
    })
  )
})
