// What a request is made of over the life of a session, and what is logged of its answer.
import { Agents } from "@dsh/agent/Agents"
import * as AgentHooks from "@dsh/agent/AgentHooks"
import * as Llm from "@dsh/llm/Llm"
import { LlmError } from "@dsh/llm/LlmError"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { neutral } from "@dsh/protocol/NeutralRequest"
import type { LlmCallConfig } from "@dsh/protocol/Request"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { ask, events, make, ofType, world } from "./support.ts"

const { Reply } = LlmScripted

/** A route whose adapter fills in what the caller leaves open, and that has no key for the model `locked`. */
const filling = Llm.layerAdapter(
  Effect.succeed({
    providers: [{ id: "filling", name: "Filling" }],
    formats: [neutral],
    models: () => Effect.succeed([]),
    prepare: (config) =>
      config.model === "locked"
        ? Effect.fail(new LlmError({ code: "INVALID_CREDENTIAL", message: "no key" }))
        : Effect.succeed({
            config: { reasoningEffort: "medium", maxTokens: 100, ...config },
            adapterDefaults: {
              ...(config.reasoningEffort === undefined && { reasoningEffort: true as const }),
              ...(config.maxTokens === undefined && { maxTokens: true as const })
            },
            wire: { format: neutral.format },
            model: { provider: "filling", id: config.model, name: "Filling" },
            stream: () =>
              Stream.make(
                { type: "text-delta", index: 0, text: "ok" } as const,
                { type: "finish", reason: { kind: "stop" } } as const
              )
          })
  })
)

/** What the request hook is given: what was chosen, without what an adapter filled in. */
const chosen = (seen: Array<LlmCallConfig>) =>
  AgentHooks.AgentRequest.hook("look", (input, next) => {
    seen.push(input.config)
    return next(input)
  })

const route = { provider: "filling", model: "m" }

describe("a request", () => {
  it.scoped("keeps an effort that somebody chose over a resume, on the same route", () => {
    const seen: Array<LlmCallConfig> = []
    return Effect.gen(function* () {
      const { session } = yield* Effect.tap(make({ ...route, reasoningEffort: "high" }), (agent) => ask(agent, "a"))
      const seed = events(session)
      yield* Effect.flatMap(make({ ...route, seed }), (agent) => ask(agent, "b"))
      yield* Effect.flatMap(make({ ...route, model: "other", seed }), (agent) => ask(agent, "c"))
      yield* Effect.flatMap(make({ ...route, reasoningEffort: "low", seed }), (agent) => ask(agent, "d"))
      assert.deepStrictEqual(seen, [
        { ...route, reasoningEffort: "high" },
        { ...route, reasoningEffort: "high" },
        { ...route, model: "other" },
        { ...route, reasoningEffort: "low" }
      ])
    }).pipe(Effect.provide(world([], Layer.merge(filling, chosen(seen)))))
  })

  it.scoped("never takes what an adapter filled in for a choice", () => {
    const seen: Array<LlmCallConfig> = []
    return Effect.gen(function* () {
      const agent = yield* make(route)
      yield* ask(agent, "a")
      yield* ask(agent, "b")
      yield* Effect.flatMap(make({ ...route, seed: events(agent.session) }), (resumed) => ask(resumed, "c"))
      assert.deepStrictEqual(seen, [route, route, route])
      const [header] = ofType(agent.session, "request/header")
      assert.deepStrictEqual(header?.data.header.config, { ...route, reasoningEffort: "medium", maxTokens: 100 })
    }).pipe(Effect.provide(world([], Layer.merge(filling, chosen(seen)))))
  })

  it.scoped("that fails names the route it was to take, to whoever may retry it on another", () => {
    const failed: Array<string> = []
    const fallback = AgentHooks.RequestError.hook("fallback", ({ failure, provider }) => {
      failed.push(`${provider} ${failure.code}`)
      return Effect.succeed({ kind: "retry" })
    })
    const first = AgentHooks.AgentRequest.hook("first", ({ config }) =>
      Effect.succeed(failed.length === 0 ? { ...config, provider: "filling", model: "locked" } : config)
    )
    return Effect.gen(function* () {
      const agent = yield* (yield* Agents).create({ provider: LlmScripted.provider, model: LlmScripted.model })
      assert.strictEqual((yield* ask(agent, "go")).reason.kind, "completed")
      assert.deepStrictEqual(failed, ["filling INVALID_CREDENTIAL"])
      assert.deepStrictEqual(
        ofType(agent.session, "request/header").map(({ data }) => data.header.config.provider),
        [LlmScripted.provider]
      )
    }).pipe(Effect.provide(world([Reply.text("ok")], Layer.mergeAll(filling, fallback, first))))
  })
})

describe("an answer", () => {
  it.scoped("without content is logged with what it cost, and is not part of the conversation", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const usage = { inputTokens: 7, outputTokens: 0 }
      yield* (yield* LlmScripted.Script).add(
        Reply.chunks([
          { type: "usage", usage },
          { type: "finish", reason: { kind: "stop" } }
        ]),
        Reply.text("here")
      )
      yield* ask(agent, "go")
      yield* ask(agent, "hello?")
      const [silent] = ofType(agent.session, "assistant/message")
      assert.deepStrictEqual([silent?.data.message.content, silent?.data.usage], [[], usage])
      const { requests } = yield* LlmScripted.Script
      assert.deepStrictEqual(
        requests[1]?.messages.map(({ role }) => role),
        ["user", "user"]
      )
    }).pipe(Effect.provide(world([])))
  )
})
