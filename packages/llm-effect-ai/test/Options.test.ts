// What an adapter makes of its options: defaults, refusals, the key, and the model that is made for each request.
import * as LlmEffectAi from "@dsh/llm-effect-ai/LlmEffectAi"
import * as ApiKey from "@dsh/llm/ApiKey"
import * as Llm from "@dsh/llm/Llm"
import * as RetryPolicy from "@dsh/llm/RetryPolicy"
import { neutral } from "@dsh/protocol/NeutralRequest"
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import * as AnthropicClient from "@effect/ai-anthropic/AnthropicClient"
import * as AnthropicLanguageModel from "@effect/ai-anthropic/AnthropicLanguageModel"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer, Option, Redacted } from "effect"
import { anthropic, ask, bodyOf, openAi, world } from "./support.ts"

const prepared = (config: object, options: Partial<LlmEffectAi.Options> = {}) =>
  Effect.flatMap(world(anthropic(), [], options), ({ adapter }) =>
    adapter.prepare({ provider: "bridge", model: "m", ...config }, "agent")
  ).pipe(Effect.scoped)

const codeOf = <A, E extends { readonly code: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ code }) => code)

describe("a call", () => {
  it.live("is refused what the model does not pass on", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* codeOf(prepared({ stop: ["x"] })), "UNSUPPORTED_OPTION")
      assert.strictEqual(yield* codeOf(prepared({ temperature: 1 }, { honours: [] })), "UNSUPPORTED_OPTION")
      assert.strictEqual(yield* codeOf(prepared({ maxTokens: 1 }, { honours: ["stop"] })), "UNSUPPORTED_OPTION")
      assert.strictEqual(yield* codeOf(prepared({ reasoningEffort: "low" })), "UNSUPPORTED_REASONING_EFFORT")
      const efforts = { efforts: ["high"] }
      assert.strictEqual(yield* codeOf(prepared({ reasoningEffort: "low" }, efforts)), "UNSUPPORTED_REASONING_EFFORT")
      const { config } = yield* prepared({ stop: [], temperature: 1, maxTokens: 5 })
      assert.deepStrictEqual(config, { provider: "bridge", model: "m", stop: [], temperature: 1, maxTokens: 5 })
    })
  )

  it.live("gets the defaults of the adapter and the catalog, and says which", () =>
    Effect.gen(function* () {
      const options: Partial<LlmEffectAi.Options> = {
        maxTokens: 100,
        defaultContextWindow: 1000,
        efforts: ["low", "high"],
        reasoningEffort: "high",
        models: [{ id: "big", name: "Big", contextWindow: 9000, maxTokens: 500 }]
      }
      const plain = yield* prepared({}, options)
      assert.deepStrictEqual(plain.config, { provider: "bridge", model: "m", reasoningEffort: "high", maxTokens: 100 })
      assert.deepStrictEqual(plain.adapterDefaults, { reasoningEffort: true, maxTokens: true })
      assert.deepStrictEqual(plain.wire, { format: neutral.format })
      const big = yield* prepared({ model: "big", reasoningEffort: "low" }, options)
      assert.deepStrictEqual(big.adapterDefaults, { maxTokens: true })
      const named = yield* prepared({ maxTokens: 5 }, options)
      assert.deepStrictEqual(named.adapterDefaults, { reasoningEffort: true })
      assert.deepInclude(big.model, { id: "big", name: "Big", contextWindow: 9000, defaultMaxTokens: 500 })
      assert.deepStrictEqual(big.model.reasoning, { efforts: ["low", "high"], defaultEffort: "high" })
    })
  )

  it.live("for a title is worth no thought", () =>
    Effect.gen(function* () {
      const { adapter } = yield* world(anthropic(), [], { efforts: ["high"], reasoningEffort: "high" })
      const { config } = yield* adapter.prepare({ provider: "bridge", model: "m" }, "session-title")
      assert.isUndefined(config.reasoningEffort)
    }).pipe(Effect.scoped)
  )
})

describe("the model", () => {
  it.live("is made for each request, with what the call names", () =>
    Effect.gen(function* () {
      const { adapter, server } = yield* world(anthropic(), [Reply.text("a"), Reply.text("b")], {
        honours: ["maxTokens", "temperature", "stop"]
      })
      yield* ask(adapter, { config: { model: "one", maxTokens: 7, temperature: 0.5, stop: ["END"] } })
      yield* ask(adapter, { config: { model: "two" } })
      const [one, two] = (yield* server.requests).map(bodyOf)
      assert.deepInclude(one, { model: "one", max_tokens: 7, temperature: 0.5, stop_sequences: ["END"] })
      assert.deepInclude(two, { model: "two", max_tokens: 4096 })
      assert.notProperty(two, "temperature")
    }).pipe(Effect.scoped)
  )

  it.live("that cannot be made is a failure that says what it asks for", () =>
    Effect.gen(function* () {
      const { adapter } = yield* world(
        (apiUrl) =>
          ({ config }) =>
            AnthropicLanguageModel.layer({ model: config.model }).pipe(
              Layer.provide(
                AnthropicClient.layerConfig({ apiKey: Config.redacted("NO_SUCH_KEY"), apiUrl: Config.succeed(apiUrl) })
              )
            ),
        []
      )
      const error = yield* Effect.flip(ask(adapter))
      assert.strictEqual(error.code, "MISSING_CREDENTIAL")
      assert.include(error.message, "NO_SUCH_KEY")
    }).pipe(Effect.scoped, Effect.withConfigProvider(ConfigProvider.fromMap(new Map())))
  )

  it.live("declares tools as they are, and never as strict functions", () =>
    Effect.gen(function* () {
      const { adapter, server } = yield* world(openAi(), [Reply.text("a")])
      const parameters = { type: "object", properties: { p: { type: "string" } } }
      yield* ask(adapter, { header: { tools: [{ name: "read", description: "Reads.", parameters }] } })
      const { tools } = bodyOf((yield* server.requests)[0])
      const tool = { type: "function", name: "read", description: "Reads.", parameters, strict: false }
      assert.deepStrictEqual(tools, [tool])
    }).pipe(Effect.scoped)
  )
})

describe("the key", () => {
  it.live("is read for each request and sent in the provider's way", () =>
    Effect.gen(function* () {
      let reads = 0
      const apiKey = Effect.sync(() => Option.some(Redacted.make(`sk-test-number-${++reads}`)))
      for (const [model, header, prefix] of [
        [openAi(), "authorization", "Bearer "],
        [anthropic(), "x-api-key", ""]
      ] as const) {
        reads = 0
        const { adapter, server } = yield* world(model, [Reply.text("a"), Reply.text("b")], { apiKey })
        yield* ask(adapter)
        yield* ask(adapter)
        const sent = (yield* server.requests).map(({ headers }) => headers[header])
        assert.deepStrictEqual(sent, [`${prefix}sk-test-number-1`, `${prefix}sk-test-number-2`])
      }
    }).pipe(Effect.scoped)
  )

  it.live("of the model's own is sent where the adapter has none, and shown nowhere", () =>
    Effect.gen(function* () {
      const own = Redacted.make("sk-its-own-key")
      const server = yield* MockLlm.make({
        apiKey: Redacted.value(own),
        script: Script.sequence([Reply.text("a"), Reply.error(401, { message: "no good: sk-its-own-key" })])
      })
      const adapter = yield* Effect.flatMap(HttpClientNode.make, (client) =>
        Effect.provideService(
          LlmEffectAi.make({
            provider: "bridge",
            model: () =>
              AnthropicLanguageModel.layer({ model: "m" }).pipe(
                Layer.provide(AnthropicClient.layer({ apiUrl: server.url, apiKey: own }))
              )
          }),
          HttpClient.HttpClient,
          client
        )
      )
      assert.deepStrictEqual((yield* ask(adapter)).finish, { kind: "stop" })
      const error = yield* Effect.flip(ask(adapter))
      assert.strictEqual(error.code, "AUTH")
      assert.notInclude(JSON.stringify([error.failure, error.cause]), "sk-its-own-key")
    }).pipe(Effect.scoped)
  )

  it.live("that is missing is a failure, and nothing is sent", () =>
    Effect.gen(function* () {
      const apiKey = yield* ApiKey.fromConfig("THE_KEY")
      const { adapter, server } = yield* world(anthropic(), [], { apiKey })
      assert.strictEqual(yield* codeOf(ask(adapter)), "MISSING_CREDENTIAL")
      assert.deepStrictEqual(yield* server.requests, [])
    }).pipe(Effect.scoped, Effect.withConfigProvider(ConfigProvider.fromMap(new Map())))
  )
})

it.live("serves its route in a registry, with its own policy for retries", () =>
  Effect.gen(function* () {
    const llm = yield* Llm.Llm
    assert.deepStrictEqual(yield* llm.providers, [{ id: "claude", name: "Claude" }])
    assert.strictEqual(llm.retryPolicy("claude").maxRetries, 1)
    assert.strictEqual(llm.format("neutral"), neutral)
    assert.deepStrictEqual(
      (yield* llm.models("claude")).map(({ id }) => id),
      ["big"]
    )
  }).pipe(
    Effect.provide(
      LlmEffectAi.layer({
        provider: "claude",
        name: "Claude",
        model: anthropic()("http://127.0.0.1:9"),
        models: [{ id: "big" }],
        retryPolicy: { ...RetryPolicy.normal, maxRetries: 1 }
      }).pipe(Layer.provideMerge(Llm.layer), Layer.provide(HttpClientNode.layer))
    )
  )
)
