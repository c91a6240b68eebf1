// What callers may ask for, what becomes of it on the wire, and what is refused before anything is sent.
import type { Api, Options } from "@dsh/llm-pi-ai/LlmPiAi"
import * as Reply from "@dsh/testing/Reply"
import type { LlmCallConfig } from "@dsh/protocol/Request"
import { SessionId } from "@dsh/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Redacted, Stream } from "effect"
import { LlmError } from "@dsh/llm/LlmError"
import { adapter, apis, ask, codeOf, tools, user, world } from "./support.ts"

const efforts = ["off", "minimal", "low", "medium", "high", "xhigh"] as const

const offline = (options: Partial<Options> = {}) =>
  adapter({ api: "openai-completions", baseUrl: "http://127.0.0.1:9", ...options })

const sent = (api: Api, config: Partial<LlmCallConfig>, options: Partial<Omit<Options, "api">> = {}) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { adapter: self, server } = yield* world(api, [Reply.text("ok")], options)
      yield* ask(self, { config, header: { system: "s", tools } })
      return (yield* server.requests)[0]?.json as Readonly<Record<string, unknown>>
    })
  )

describe("options", () => {
  it.scoped("that pi-ai cannot honour are refused", () =>
    Effect.gen(function* () {
      const table: ReadonlyArray<readonly [Partial<Options>, Partial<LlmCallConfig>, string | undefined]> = [
        [{}, { stop: ["x"] }, "UNSUPPORTED_OPTION"],
        [{}, { stop: [] }, undefined],
        [{}, { reasoningEffort: "high" }, "UNSUPPORTED_REASONING_EFFORT"],
        [{}, { reasoningEffort: "off" }, "UNSUPPORTED_REASONING_EFFORT"],
        [{ efforts: ["low"] }, { reasoningEffort: "max" }, "UNSUPPORTED_REASONING_EFFORT"],
        [{ efforts: ["low"] }, { reasoningEffort: "low" }, undefined],
        [{ efforts, api: "anthropic-messages" }, { reasoningEffort: "low", temperature: 0 }, "UNSUPPORTED_OPTION"],
        [{ efforts, api: "anthropic-messages" }, { reasoningEffort: "off", temperature: 0 }, undefined],
        [{ efforts, api: "openai-responses" }, { reasoningEffort: "low", temperature: 0 }, undefined]
      ]
      for (const [options, config, expected] of table) {
        const self = yield* offline(options)
        const exit = yield* Effect.either(self.prepare({ provider: "pi", model: "m", ...config }, "agent"))
        assert.strictEqual(
          exit._tag === "Left" ? exit.left.code : undefined,
          expected,
          JSON.stringify([options, config])
        )
      }
    })
  )

  it.scoped("are completed by the adapter, which says so", () =>
    Effect.gen(function* () {
      const models = [{ id: "m", contextWindow: 1000, maxTokens: 50 }, { id: "n" }]
      const self = yield* offline({ efforts, reasoningEffort: "low", models, name: "Pi" })
      const config = { provider: "pi", model: "m" }
      const filled = yield* self.prepare(config, "agent")
      assert.deepStrictEqual(filled.config, { ...config, reasoningEffort: "low", maxTokens: 50 })
      assert.deepStrictEqual(filled.adapterDefaults, { reasoningEffort: true, maxTokens: true })
      const chosen = yield* self.prepare({ ...config, reasoningEffort: "high", maxTokens: 7 }, "agent")
      assert.deepStrictEqual(chosen.config, { ...config, reasoningEffort: "high", maxTokens: 7 })
      assert.deepStrictEqual(chosen.adapterDefaults, {})
      const title = yield* self.prepare(config, "session-title")
      assert.deepStrictEqual(title.config, { ...config, maxTokens: 50 })
      assert.deepStrictEqual(yield* self.models("pi"), [
        {
          provider: "pi",
          id: "m",
          name: "m",
          contextWindow: 1000,
          defaultMaxTokens: 50,
          inputModalities: ["text"],
          reasoning: { efforts, defaultEffort: "low" }
        },
        {
          provider: "pi",
          id: "n",
          name: "n",
          contextWindow: 262_144,
          defaultMaxTokens: 32_768,
          inputModalities: ["text"],
          reasoning: { efforts, defaultEffort: "low" }
        }
      ])
      assert.deepStrictEqual((yield* self.prepare({ provider: "pi", model: "new" }, "agent")).model.id, "new")
    })
  )

  it.scopedLive("are sent under the names of the API", () =>
    Effect.gen(function* () {
      const config = { maxTokens: 4000, temperature: 0.5 }
      const completions = yield* sent("openai-completions", config)
      assert.deepStrictEqual([completions.max_completion_tokens, completions.temperature], [4000, 0.5])
      assert.isUndefined(completions.store)
      const flagged = yield* sent("openai-completions", config, { compat: { maxTokensField: "max_tokens" } })
      assert.deepStrictEqual([flagged.max_completion_tokens, flagged.max_tokens], [undefined, 4000])
      const responses = yield* sent("openai-responses", config)
      assert.deepStrictEqual([responses.max_output_tokens, responses.temperature, responses.store], [4000, 0.5, false])
      const messages = yield* sent("anthropic-messages", config)
      assert.deepStrictEqual([messages.max_tokens, messages.temperature], [4000, 0.5])
    })
  )

  it.scopedLive("for reasoning are what the API makes of an effort, and nothing without one", () =>
    Effect.gen(function* () {
      const reasoning = (api: Api, effort: string | undefined, options: Partial<Options> = {}) =>
        Effect.map(
          sent(
            api,
            { maxTokens: 20_000, ...(effort !== undefined && { reasoningEffort: effort }) },
            { efforts, ...options }
          ),
          (body) => body.reasoning_effort ?? body.reasoning ?? body.thinking
        )
      assert.isUndefined(yield* reasoning("openai-completions", undefined))
      assert.isUndefined(yield* reasoning("openai-completions", "off"))
      assert.strictEqual(yield* reasoning("openai-completions", "high"), "high")
      const wireEfforts = { off: "low", xhigh: "max" }
      assert.strictEqual(yield* reasoning("openai-completions", "xhigh", { wireEfforts }), "max")
      assert.strictEqual(yield* reasoning("openai-completions", "off", { wireEfforts }), "low")
      assert.isUndefined(yield* reasoning("openai-responses", undefined))
      assert.deepStrictEqual(yield* reasoning("openai-responses", "off"), { effort: "none" })
      assert.deepStrictEqual(yield* reasoning("openai-responses", "low"), { effort: "low", summary: "auto" })
      assert.deepStrictEqual(yield* reasoning("openai-responses", "xhigh"), { effort: "xhigh", summary: "auto" })
      assert.isUndefined(yield* reasoning("anthropic-messages", undefined))
      assert.deepStrictEqual(yield* reasoning("anthropic-messages", "off"), { type: "disabled" })
      assert.deepStrictEqual(yield* reasoning("anthropic-messages", "low"), {
        type: "enabled",
        budget_tokens: 2048,
        display: "summarized"
      })
    })
  )

  it.scopedLive("keep the whole schema of a tool", () =>
    Effect.gen(function* () {
      for (const api of apis) {
        const body = yield* sent(api, {})
        assert.include(JSON.stringify(body.tools), JSON.stringify(tools[0]?.parameters), api)
      }
    })
  )

  it.scopedLive("say which session asks only when they are told to", () =>
    Effect.gen(function* () {
      for (const sessionAffinity of [false, true]) {
        const { adapter: self, server } = yield* world("openai-responses", [Reply.text("ok")], { sessionAffinity })
        const { config, stream, wire } = yield* self.prepare({ provider: "pi", model: "m" }, "agent")
        const body = { bytes: new Uint8Array(), sha256: "", of: "neutral" } as const
        yield* Stream.runDrain(
          stream({ header: { config, wire }, messages: [user("hi")], body, sessionId: SessionId("session-7") })
        )
        const [request] = yield* server.requests
        const said = JSON.stringify([request?.json, request?.headers])
        assert.strictEqual(said.includes("session-7"), sessionAffinity)
      }
    })
  )
})

describe("a key", () => {
  it.scopedLive("is asked for once per request, and never looked for in the environment", () =>
    Effect.gen(function* () {
      let asked = 0
      const apiKey = Effect.sync(() => Option.some(Redacted.make(`key-number-${++asked}`)))
      for (const api of apis) {
        const { adapter: self, server } = yield* world(api, [Reply.text("a"), Reply.text("b")], { apiKey })
        yield* ask(self)
        yield* ask(self)
        const keys = (yield* server.requests).map(({ headers }) => headers.authorization ?? headers["x-api-key"])
        assert.deepStrictEqual(
          keys.map((key) => key?.replace("Bearer ", "")),
          [`key-number-${asked - 1}`, `key-number-${asked}`]
        )
        const keyless = yield* world(api, [Reply.text("a")], { apiKey: Effect.succeedNone })
        yield* ask(keyless.adapter)
        const { authorization, "x-api-key": none } = (yield* keyless.server.requests)[0]?.headers ?? {}
        assert.deepStrictEqual([authorization, none], [undefined, undefined])
      }
    })
  )

  it.scopedLive("that is missing or cannot be sent is said before anything is", () =>
    Effect.gen(function* () {
      const missing = new LlmError({ code: "MISSING_CREDENTIAL", message: "no key" })
      for (const [apiKey, code] of [
        [Effect.fail(missing), "MISSING_CREDENTIAL"],
        [Effect.succeedSome(Redacted.make("two\nlines")), "INVALID_CREDENTIAL"]
      ] as const) {
        const { adapter: self, server } = yield* world("openai-responses", [], { apiKey })
        assert.strictEqual(yield* codeOf(ask(self)), code)
        assert.deepStrictEqual(yield* server.requests, [])
      }
    })
  )
})
