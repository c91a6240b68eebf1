// What pi-ai is given to work with, and what is made of it when it does not.
import * as Answer from "@dsh/llm-pi-ai/LlmPiAi/Answer"
import type { Question } from "@dsh/llm-pi-ai/LlmPiAi/Answer"
import * as Library from "@dsh/llm-pi-ai/LlmPiAi/Library"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as ChunkStream from "@dsh/llm/ChunkStream"
import * as LibraryTransport from "@dsh/llm/LibraryTransport"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import * as Reply from "@dsh/testing/Reply"
import type { AssistantMessage, AssistantMessageEvent } from "@earendil-works/pi-ai"
import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope, Stream } from "effect"
import { apis, ask, world } from "./support.ts"

describe("the fetch of the SDKs", () => {
  it("is ours for one synchronous call, whether it succeeds or not", () => {
    const own = globalThis.fetch
    const other: typeof fetch = () => Promise.reject(new Error("unused"))
    assert.strictEqual(
      Library.withFetch(other, () => globalThis.fetch),
      other
    )
    assert.throws(() =>
      Library.withFetch(other, () => {
        throw new Error("no")
      })
    )
    assert.strictEqual(globalThis.fetch, own)
  })

  it.scopedLive("is seen by nobody else, and is all that goes out", () =>
    Effect.gen(function* () {
      const own = globalThis.fetch
      const seen = new Set<typeof fetch>()
      const stranger: typeof fetch = () => Promise.reject(new Error("a request past the transport"))
      globalThis.fetch = stranger
      yield* Effect.addFinalizer(() => Effect.sync(() => (globalThis.fetch = own)))
      const watch = Effect.forever(
        Effect.zipRight(
          Effect.sync(() => seen.add(globalThis.fetch)),
          Effect.yieldNow()
        )
      )
      for (const api of apis) {
        const { adapter, server } = yield* world(api, [Reply.text("a"), Reply.text("b"), Reply.text("c")])
        const watching = yield* Effect.fork(watch)
        const answers = yield* Effect.all([ask(adapter), ask(adapter), ask(adapter)], { concurrency: "unbounded" })
        yield* Fiber.interrupt(watching)
        assert.deepStrictEqual(
          answers.map(({ finish }) => finish.kind),
          ["stop", "stop", "stop"]
        )
        assert.strictEqual((yield* server.requests).length, 3)
      }
      assert.deepStrictEqual([...seen], [stranger])
    })
  )
})

const output: AssistantMessage = {
  role: "assistant",
  content: [],
  api: "openai-completions",
  provider: "dsh",
  model: "m",
  usage: {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
  },
  stopReason: "stop",
  timestamp: 0
}

/** An exchange with a library that does as it is told. */
const exchanging = (ask: Library.Ask) =>
  Effect.gen(function* () {
    const client = yield* HttpClientNode.make
    const transport = yield* Effect.provideService(LibraryTransport.make, HttpClient.HttpClient, client)
    const question: Question = {
      api: "openai-completions",
      ask,
      facts: {
        id: "m",
        name: "m",
        provider: "dsh",
        baseUrl: "http://127.0.0.1:9",
        reasoning: false,
        input: ["text"],
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        contextWindow: 1,
        maxTokens: 1,
        compat: undefined
      },
      profile: {},
      conversation: { context: { messages: [] }, written: new Map() },
      options: {},
      asked: { isTaken: () => false, mint: () => "m", tools: new Set(), isQuoted: () => false },
      transport,
      exchange: {
        dialect: "chat-completions",
        endpoint: { name: "P", url: "http://127.0.0.1:9", keyName: "K", urlName: "U" },
        key: "none",
        limits: { transportIdle: 1000, contentIdle: 1000, queued: 1000 }
      }
    }
    return ChunkStream.fromSource(Answer.start(question))
  })

const ended = (ask: Library.Ask) =>
  Effect.gen(function* () {
    const chunks: Array<StreamChunk> = []
    const stream = yield* exchanging(ask)
    const exit = yield* Effect.either(Stream.runForEach(stream, (chunk) => Effect.sync(() => chunks.push(chunk))))
    return [chunks.map(({ type }) => type), exit._tag === "Left" ? exit.left.code : "finished"] as const
  })

async function* saying(...events: ReadonlyArray<AssistantMessageEvent>) {
  yield* events
}

const text: AssistantMessageEvent = { type: "text_delta", contentIndex: 0, delta: "a", partial: output }

describe("a library that fails by itself", () => {
  it.scopedLive("is a failure with its own code, never a finish", () =>
    Effect.gen(function* () {
      const done = { type: "done", reason: "stop", message: output } as const
      const error = { ...output, stopReason: "error", errorMessage: "x is not a function" } as const
      const shown: Array<StreamChunk["type"]> = ["block-start", "text-delta"]
      const cases: ReadonlyArray<readonly [string, Library.Ask, Array<StreamChunk["type"]>]> = [
        ["an error event", () => saying(text, { type: "error", reason: "error", error }), shown],
        ["a stream without an end", () => saying(text), shown],
        ["an end that the provider did not come to", () => saying(text, done), shown],
        ["no stream", () => saying(), []],
        [
          "a throw",
          () => {
            throw new Error("no")
          },
          []
        ],
        [
          "a broken iterator",
          () => ({
            [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("no")) })
          }),
          []
        ]
      ]
      for (const [name, ask, chunks] of cases) {
        assert.deepStrictEqual(yield* ended(ask), [chunks, "PI_AI_ERROR"], name)
      }
    })
  )

  it.scopedLive("does not keep anybody waiting when the adapter is gone", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const begun = yield* Deferred.make<void>()
      const silent: Library.Ask = () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => {
            Deferred.unsafeDone(begun, Effect.void)
            return new Promise(() => {})
          }
        })
      })
      const stream = yield* Scope.extend(exchanging(silent), scope)
      const running = yield* Effect.fork(Stream.runDrain(stream))
      yield* Deferred.await(begun)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(running)))
    })
  )
})
