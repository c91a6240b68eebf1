// The ceiling of an answer shrinks with the window, and grows again with it.
import { ModelSelection } from "@dsh/agent/ModelSelection"
import * as Llm from "@dsh/llm/Llm"
import type { LlmAdapter } from "@dsh/llm/LlmAdapter"
import { LlmError } from "@dsh/llm/LlmError"
import * as LlmOutputLimit from "@dsh/llm/LlmOutputLimit"
import { neutral } from "@dsh/protocol/NeutralRequest"
import type { StreamChunk, TokenUsage } from "@dsh/protocol/StreamChunk"
import type { Session } from "@dsh/session/Session"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { ask, make, ofType, turnErrors, world } from "./support.ts"

const provider = "windowed"
const window = 100_000

const answer = (inputTokens: number, outputTokens = 10): ReadonlyArray<StreamChunk> => {
  const usage: TokenUsage = { inputTokens, outputTokens }
  return [
    { type: "text-delta", index: 0, text: "ok" },
    { type: "usage", usage },
    { type: "finish", reason: { kind: "stop" } }
  ]
}

const refusal = (message: string) => new LlmError({ code: "CONTEXT_WINDOW_EXCEEDED", message, status: 400 })

type Reply = ReadonlyArray<StreamChunk> | LlmError

/** A model with a window and a ceiling of its own. */
const model = (replies: ReadonlyArray<Reply>): Layer.Layer<never, never, Llm.Llm> => {
  const left = [...replies]
  const adapter: LlmAdapter = {
    providers: [{ id: provider, name: "Windowed" }],
    formats: [neutral],
    models: () => Effect.succeed([]),
    prepare: (config) =>
      Effect.succeed({
        config: { ...config, maxTokens: config.maxTokens ?? 32_000 },
        ...(config.maxTokens === undefined && { adapterDefaults: { maxTokens: true as const } }),
        wire: { format: neutral.format },
        model: { provider, id: config.model, name: "m", contextWindow: config.model === "large" ? 1_000_000 : window },
        stream: () =>
          Stream.suspend(() => {
            const reply = left.shift() ?? answer(1)
            return reply instanceof LlmError ? Stream.fail(reply) : Stream.fromIterable(reply)
          })
      })
  }
  return Layer.orDie(Llm.layerAdapter(Effect.succeed(adapter)))
}

const ceilings = (session: Session) =>
  ofType(session, "request/header").map(({ data: { header } }) => [
    header.config.maxTokens,
    header.adapterDefaults?.maxTokens === true
  ])

const inWorld =
  (...replies: ReadonlyArray<Reply>) =>
  <A, E, R>(test: Effect.Effect<A, E, R>) =>
    Effect.provide(test, world([], Layer.merge(model(replies), LlmOutputLimit.layer)))

const agentOn = (fields: { readonly maxTokens?: number } = {}) => make({ provider, model: "small", ...fields })

describe("the ceiling of an answer", () => {
  it.scoped("is the model's own while there is room, what is left of the window when not, and its own again", () =>
    Effect.gen(function* () {
      const agent = yield* agentOn()
      for (const text of ["a", "b", "c"]) yield* ask(agent, text)
      // 74 990 + 10 are counted: 25 000 are left, less what is new since.
      assert.deepStrictEqual(ceilings(agent.session), [
        [32_000, true],
        [24_576, false]
      ])
      const [limited] = ofType(agent.session, "llm/output-limit")
      assert.deepInclude(limited?.data, { provider, model: "small", maxTokens: 24_576, contextWindow: window, turn: 2 })
      assert.isUndefined(limited?.data.wanted)
      yield* (yield* ModelSelection).set(agent, { provider, model: "large" })
      yield* ask(agent, "d")
      assert.deepStrictEqual(ceilings(agent.session).at(-1), [32_000, true])
      assert.lengthOf(ofType(agent.session, "llm/output-limit"), 1)
    }).pipe(inWorld(answer(74_990), answer(75_000), answer(75_100), answer(1)))
  )

  it.scoped("is what somebody asked for as soon as there is room for that", () =>
    Effect.gen(function* () {
      const agent = yield* agentOn({ maxTokens: 50_000 })
      for (const text of ["a", "b", "c"]) yield* ask(agent, text)
      assert.deepStrictEqual(ceilings(agent.session), [
        [50_000, false],
        [36_864, false],
        [50_000, false]
      ])
      assert.strictEqual(ofType(agent.session, "llm/output-limit")[0]?.data.wanted, 50_000)
    }).pipe(inWorld(answer(60_000), answer(10), answer(10)))
  )

  it.scoped("is never lower than makes sense: a window that is full is for the provider to refuse", () =>
    Effect.gen(function* () {
      const agent = yield* agentOn()
      yield* ask(agent, "a")
      yield* ask(agent, "b")
      assert.deepStrictEqual(ceilings(agent.session).at(-1), [1024, false])
      assert.deepStrictEqual(turnErrors(agent.session), ["CONTEXT_WINDOW_EXCEEDED"])
    }).pipe(inWorld(answer(99_990), refusal("prompt is too long")))
  )

  it.scoped("is lowered once by what a refusal tells, within the same step", () =>
    Effect.gen(function* () {
      const agent = yield* agentOn()
      yield* ask(agent, "a")
      yield* ask(agent, "b")
      assert.deepStrictEqual(turnErrors(agent.session), [])
      assert.deepStrictEqual(ceilings(agent.session), [
        [32_000, true],
        [18_432, false]
      ])
      assert.deepInclude(ofType(agent.session, "llm/output-limit")[0]?.data, {
        contextTokens: 20_000,
        contextWindow: 40_000
      })
    }).pipe(
      inWorld(
        refusal(
          "This model's maximum context length is 40000 tokens. However, you requested 52000 tokens " +
            "(20000 in the messages, 32000 in the completion)"
        ),
        answer(20_000),
        answer(20_100)
      )
    )
  )

  it.scoped("does not help where the messages alone are too long, or nobody knows by how much", () =>
    Effect.gen(function* () {
      const agent = yield* agentOn()
      yield* ask(agent, "a")
      yield* ask(agent, "b")
      assert.deepStrictEqual(turnErrors(agent.session), ["CONTEXT_WINDOW_EXCEEDED", "CONTEXT_WINDOW_EXCEEDED"])
      assert.lengthOf(ofType(agent.session, "llm/output-limit"), 0)
    }).pipe(
      inWorld(
        refusal("maximum context length is 40000 tokens. You requested 72000 tokens (40000 in the messages, 32000 …)"),
        refusal("prompt is too long")
      )
    )
  )
})
