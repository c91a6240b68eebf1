import * as Llm from "@dsh/llm/Llm"
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import { UserAgent } from "@dsh/llm/UserAgent"
import { SessionId } from "@dsh/protocol/Ids"
import type { EpochHeader } from "@dsh/protocol/Request"
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { HttpClient } from "@effect/platform"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted, Stream } from "effect"
import * as Package from "../package.json" with { type: "json" }
import { chunks, collect, hello, parse, render } from "./support/DeepSeek.ts"
import type { Ask } from "./support/DeepSeek.ts"

/** The first request that reaches the server. */
const sent = (options: Ask) =>
  Effect.gen(function* () {
    const server = yield* MockLlm.make()
    yield* Stream.runDrain(chunks(server.url, options))
    const [request] = yield* server.requests
    const body = request?.body ?? new Uint8Array()
    return { json: parse(body), headers: request?.headers ?? {}, body }
  }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layer))

const prepare = (config: object, settings: LlmDeepSeek.Settings = {}, purpose: "agent" | "session-title" = "agent") =>
  Effect.gen(function* () {
    const connection = LlmDeepSeek.connection({ apiKey: Redacted.make("k") })
    const adapter = yield* LlmDeepSeek.make({ ...settings, connection })
    return yield* adapter.prepare({ provider: LlmDeepSeek.provider, model: "deepseek-v4-pro", ...config }, purpose)
  }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layer))

/** Turns of the event loop. */
const turns = (count: number): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    const next = (left: number) => (left > 0 ? setImmediate(next, left - 1) : resume(Effect.void))
    next(count)
  })

describe("LlmDeepSeek", () => {
  describe("the request", () => {
    it.live("says what it is, how long it is and whose it is, and no more", () =>
      Effect.gen(function* () {
        const { body, headers } = yield* sent({})
        assert.strictEqual(headers.authorization, "Bearer sk-test")
        assert.strictEqual(headers["content-type"], "application/json")
        assert.strictEqual(headers["content-length"], String(body.length))
        assert.strictEqual(headers["user-agent"], `dsh/${Package.default.version}`)
        assert.deepStrictEqual(
          Object.keys(headers).filter((n) => n.includes("harness")),
          []
        )
      })
    )

    it.live("names another product when the application says so", () =>
      Effect.gen(function* () {
        const { headers } = yield* sent({})
        assert.strictEqual(headers["user-agent"], "mine/2")
      }).pipe(Effect.provideService(UserAgent, "mine/2"))
    )

    it.live("resolves effort, thinking and output limit", () =>
      Effect.gen(function* () {
        const { json } = yield* sent({})
        assert.deepStrictEqual(
          [json.thinking, json.reasoning_effort, json.max_tokens],
          [{ type: "enabled" }, "high", 256_000]
        )
        const off = (yield* sent({ config: { reasoningEffort: "off", maxTokens: 5, temperature: 0.2, stop: ["a"] } }))
          .json
        assert.deepStrictEqual(
          [off.thinking, off.reasoning_effort, off.max_tokens],
          [{ type: "disabled" }, undefined, 5]
        )
        assert.deepStrictEqual([off.temperature, off.stop], [0.2, ["a"]])
        const title = (yield* sent({ purpose: "session-title", config: { reasoningEffort: "max" } })).json
        assert.deepStrictEqual([title.thinking, title.reasoning_effort], [{ type: "disabled" }, undefined])
        const locked = (yield* sent({ settings: { thinking: "disabled", reasoningEffort: "max" } })).json
        assert.deepStrictEqual(locked.thinking, { type: "disabled" })
      })
    )

    it.live("marks what it filled in, and only that", () =>
      Effect.gen(function* () {
        const call = yield* prepare({})
        assert.deepStrictEqual(call.config, {
          provider: "deepseek-official",
          model: "deepseek-v4-pro",
          reasoningEffort: "high",
          maxTokens: 256_000
        })
        assert.deepStrictEqual(call.adapterDefaults, { reasoningEffort: true, maxTokens: true })
        assert.deepStrictEqual((yield* prepare({ reasoningEffort: "low", maxTokens: 1 })).adapterDefaults, {})
      })
    )

    it.live("refuses what DeepSeek cannot honour before anything is sent", () =>
      Effect.gen(function* () {
        const unknown = yield* Effect.flip(prepare({ reasoningEffort: "medium" }))
        assert.strictEqual(unknown.code, "UNSUPPORTED_REASONING_EFFORT")
        assert.include(unknown.message, "off, low, high, max")
        const locked = yield* Effect.flip(prepare({ reasoningEffort: "high" }, { thinking: "disabled" }))
        assert.strictEqual(locked.code, "UNSUPPORTED_REASONING_EFFORT")
        const stops = yield* Effect.flip(prepare({ stop: Array.from({ length: 17 }, String) }))
        assert.strictEqual(stops.code, "UNSUPPORTED_OPTION")
      })
    )

    it.live("knows its models, and lets unknown ones pass", () =>
      Effect.gen(function* () {
        const connection = LlmDeepSeek.connection({ apiKey: Redacted.make("k") })
        const models = [{ id: "x", contextWindow: 10, maxTokens: 5, inputModalities: ["text", "image"] as const }]
        const builtIn = yield* LlmDeepSeek.make({ connection })
        assert.deepStrictEqual(
          (yield* builtIn.models(LlmDeepSeek.provider)).map((m) => [m.id, m.name, m.contextWindow]),
          [
            ["deepseek-v4-flash", "DeepSeek-V4-Flash", 1_000_000],
            ["deepseek-v4-pro", "DeepSeek-V4-Pro", 1_000_000]
          ]
        )
        const own = yield* LlmDeepSeek.make({ connection, models, defaultContextWindow: 7 })
        const resolve = (model: string) => Effect.map(own.prepare({ provider: "p", model }, "agent"), (call) => call)
        const known = yield* resolve("x")
        assert.deepStrictEqual([known.model.contextWindow, known.config.maxTokens], [10, 5])
        const other = yield* resolve("y")
        assert.deepStrictEqual(
          [other.model.name, other.model.contextWindow, other.model.inputModalities],
          ["y", 7, ["text"]]
        )
      }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layer))
    )

    it.effect("tells who asks only to the official host and only when told to", () =>
      Effect.gen(function* () {
        const seen = (baseUrl: string | undefined, settings: LlmDeepSeek.Settings) =>
          Effect.gen(function* () {
            let headers: Readonly<Record<string, string>> = {}
            const client = HttpClient.make((request) => {
              headers = request.headers
              return Effect.never
            })
            const adapter = yield* Effect.provideService(
              LlmDeepSeek.make({
                ...settings,
                connection: LlmDeepSeek.connection({
                  apiKey: Redacted.make("k"),
                  ...(baseUrl !== undefined && { baseUrl })
                })
              }),
              HttpClient.HttpClient,
              client
            )
            const call = yield* adapter.prepare({ provider: LlmDeepSeek.provider, model: "m" }, "compaction")
            const header: EpochHeader = { config: call.config, wire: call.wire }
            const body = { bytes: new Uint8Array(1), sha256: "", of: "wire" as const }
            const request = { header, messages: [], body, sessionId: SessionId("s1"), purpose: "compaction" as const }
            const fiber = yield* Effect.fork(Stream.runDrain(call.stream(request)))
            while (headers["user-agent"] === undefined) yield* Effect.yieldNow()
            yield* Effect.flatMap(Effect.fork(Effect.void), () => fiber.interruptAsFork(fiber.id()))
            return Object.entries(headers).filter(([name]) => name.includes("harness"))
          }).pipe(Effect.scoped)
        const attribution = { userId: "u1" }
        assert.deepStrictEqual(yield* seen(undefined, {}), [])
        assert.deepStrictEqual(yield* seen("https://gateway.example/v1", { attribution }), [])
        assert.deepStrictEqual(yield* seen("https://api.deepseek.com/", { attribution }), [
          ["x-deepseek-harness-user-id", "u1"],
          ["x-deepseek-harness-session-id", "s1"],
          ["x-deepseek-harness-compact", "1"]
        ])
      })
    )
  })

  describe("the connection", () => {
    const request = (env: Record<string, string>) =>
      Effect.gen(function* () {
        const llm = yield* Llm.Llm
        const call = yield* llm.prepare({ provider: "deepseek-official", model: "deepseek-v4-flash" })
        const header: EpochHeader = { config: call.config, wire: call.wire }
        const bytes = new TextEncoder().encode(render(header, hello))
        return yield* collect(call.stream({ header, messages: hello, body: { bytes, sha256: "", of: "wire" } }))
      }).pipe(
        Effect.provide(
          LlmDeepSeek.layerConfig().pipe(
            Layer.provideMerge(Llm.layer),
            Layer.provide(NodeHttpClient.layer),
            Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))))
          )
        )
      )

    it.live("comes from the configuration; trailing slashes and white space do not matter", () =>
      Effect.gen(function* () {
        const server = yield* MockLlm.make({ apiKey: "sk-1" })
        const answer = yield* request({ DEEPSEEK_API_KEY: " sk-1\n", DEEPSEEK_BASE_URL: `${server.url}/v1//` })
        assert.isUndefined(answer.error)
        const wrong = yield* request({ DEEPSEEK_API_KEY: "sk-2", DEEPSEEK_BASE_URL: server.url })
        assert.strictEqual(wrong.error?.code, "AUTH")
        assert.include(wrong.error?.message, "DEEPSEEK_API_KEY")
      }).pipe(Effect.scoped)
    )

    it.live("without a key fails per request, and says how to get on", () =>
      Effect.gen(function* () {
        for (const env of [{}, { DEEPSEEK_API_KEY: " " }]) {
          const { error } = yield* request({ ...env, DEEPSEEK_BASE_URL: "http://127.0.0.1:9" })
          assert.strictEqual(error?.code, "MISSING_CREDENTIAL")
          for (const hint of ["DEEPSEEK_API_KEY", "export", "dsh demo"]) assert.include(error?.message, hint)
        }
      })
    )

    it.live("with a key that cannot be sent says so without showing it", () =>
      Effect.gen(function* () {
        const { error } = yield* request({ DEEPSEEK_API_KEY: "sk-“secret”", DEEPSEEK_BASE_URL: "http://127.0.0.1:9" })
        assert.strictEqual(error?.code, "INVALID_CREDENTIAL")
        assert.notInclude(error?.message, "secret")
      })
    )

    it.live("to an address that is none, or that nobody listens on", () =>
      Effect.gen(function* () {
        const bad = yield* request({ DEEPSEEK_API_KEY: "k", DEEPSEEK_BASE_URL: "not a url" })
        assert.strictEqual(bad.error?.code, "INVALID_REQUEST")
        assert.include(bad.error?.message, "DEEPSEEK_BASE_URL")
        const refused = yield* request({ DEEPSEEK_API_KEY: "k", DEEPSEEK_BASE_URL: yield* MockLlm.refusedUrl })
        assert.strictEqual(refused.error?.code, "TRANSPORT")
        assert.include(refused.error?.message, "connection refused")
        assert.notInclude(JSON.stringify(refused.error?.failure), "Bearer")
      })
    )

    it.live("is used again for the next request", () =>
      Effect.gen(function* () {
        const server = yield* MockLlm.make()
        yield* Stream.runDrain(chunks(server.url))
        // The consumer is done at the end of the answer, the connection at the end of the body.
        yield* turns(10)
        yield* Stream.runDrain(chunks(server.url))
        const [first, second] = yield* server.requests
        assert.strictEqual(first?.remotePort, second?.remotePort)
      }).pipe(
        Effect.scoped,
        Effect.provide(
          NodeHttpClient.layerWithoutAgent.pipe(Layer.provide(NodeHttpClient.makeAgentLayer({ keepAlive: true })))
        )
      )
    )
  })

  it.live("through the registry a failure stays one, and has a chunk that stands for it in the log", () =>
    Effect.gen(function* () {
      const server = yield* MockLlm.make({ script: Script.sequence([Reply.behaviour("partial_disconnect")]) })
      const connection = LlmDeepSeek.connection({ apiKey: Redacted.make("k"), baseUrl: server.url })
      const seen = yield* Effect.gen(function* () {
        const llm = yield* Llm.Llm
        const call = yield* llm.prepare({ provider: "deepseek-official", model: "m" })
        const header: EpochHeader = { config: call.config, wire: call.wire }
        const bytes = new TextEncoder().encode(render(header, hello))
        const stream = yield* Llm.stream(call, { header, messages: hello, body: { bytes, sha256: "", of: "wire" } })
        return yield* collect(stream)
      }).pipe(
        Effect.provide(
          LlmDeepSeek.layer({ connection }).pipe(Layer.provideMerge(Llm.layer), Layer.provide(NodeHttpClient.layer))
        )
      )
      assert.strictEqual(seen.error?.code, "TRANSPORT")
      const chunk = seen.error === undefined ? undefined : Llm.failed(seen.error)
      assert.deepStrictEqual(chunk, {
        type: "finish",
        reason: { kind: "error", failure: seen.error?.failure }
      } as never)
    }).pipe(Effect.scoped)
  )
})
