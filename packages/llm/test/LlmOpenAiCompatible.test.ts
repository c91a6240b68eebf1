import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as ChatCompletions from "@dsh/llm/ChatCompletions"
import * as Llm from "@dsh/llm/Llm"
import * as LlmOpenAiCompatible from "@dsh/llm/LlmOpenAiCompatible"
import type { LlmAdapter, Purpose } from "@dsh/llm/LlmAdapter"
import { newHash } from "@dsh/llm/RequestDigest"
import type { ContentBlock } from "@dsh/protocol/Block"
import { CallId, MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { EpochHeader, LlmCallConfig } from "@dsh/protocol/Request"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import { verify } from "@dsh/protocol/Verify"
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Layer, Redacted, TestClock } from "effect"
import { collect, hello, parse, render } from "./support/DeepSeek.ts"

type Settings = Omit<LlmOpenAiCompatible.Options, "provider" | "baseUrl">

const key = Redacted.make("sk-0123456789abcdef")
const secret = Redacted.value(key)

const assistant = (...content: ReadonlyArray<ContentBlock>): Message.Message => ({
  id: MessageId("a"),
  role: "assistant",
  content,
  source: { kind: "model", provider: "p", model: "m" }
})

/** A conversation in which everything that servers disagree about occurs. */
const history: ReadonlyArray<Message.Message> = [
  ...hello,
  assistant({ type: "reasoning", text: "so" }, { type: "tool-call", id: CallId("c"), name: "read", arguments: "{}" }),
  Message.toolResult(MessageId("t"), CallId("c"), [], false),
  assistant({ type: "tool-call", id: CallId("d"), name: "read", arguments: "{}" }),
  Message.toolResult(MessageId("t"), CallId("d"), [{ type: "text", text: "ok" }], false)
]

const tools = [{ name: "read", description: "Reads.", parameters: { type: "object", properties: {} } }]

interface Ask {
  readonly settings?: Settings
  readonly config?: Partial<LlmCallConfig>
  readonly messages?: ReadonlyArray<Message.Message>
  readonly header?: Partial<EpochHeader>
  readonly purpose?: Purpose
}

const make = (url: string, settings: Settings = {}) =>
  LlmOpenAiCompatible.make({ provider: "local", name: "Local", baseUrl: url, ...settings })

const prepare = (adapter: LlmAdapter, { config, purpose = "agent" }: Ask = {}) =>
  adapter.prepare({ provider: "local", model: "m", ...config }, purpose)

/** One question, and the request that reached the server. */
const ask = (asked: Ask = {}, reply: Reply.Reply = Reply.text("ok")) =>
  Effect.gen(function* () {
    const server = yield* MockLlm.make({
      script: { _tag: "Respond", respond: () => reply },
      strict: false
    })
    const adapter = yield* make(server.url, asked.settings)
    const { config, stream, wire } = yield* prepare(adapter, asked)
    const header: EpochHeader = { config, wire, ...asked.header }
    const { header: _, messages = hello } = asked
    const bytes = new TextEncoder().encode(render(header, messages))
    const answer = yield* collect(stream({ header, messages, body: { bytes, sha256: "", of: "wire" } }))
    const [sent] = yield* server.requests
    const body = new TextDecoder().decode(sent?.body)
    return { answer, body, headers: sent?.headers ?? {}, header, json: body === "" ? undefined : parse(body) }
  }).pipe(Effect.scoped, Effect.provide(HttpClientNode.layer))

const quirky = (quirks: LlmOpenAiCompatible.Quirks, asked: Ask = {}) =>
  ask({ messages: history, ...asked, settings: { quirks, ...asked.settings } })

/** The event a message enters the log with. */
const logged = (message: Message.Message): object => {
  const at = { turn: 1, step: 1, message }
  if (message.role === "assistant") return { type: "assistant/message", data: at, surfaceOp: "append" }
  return Message.isToolResult(message)
    ? { type: "tool/result", data: at, surfaceOp: "append" }
    : { type: "user/message", data: message, surfaceOp: "append" }
}

/** Every quirk at once. */
const odd: LlmOpenAiCompatible.Quirks = {
  maxTokens: "max_completion_tokens",
  streamUsage: false,
  reasoning: "reasoning",
  effort: "reasoning",
  systemRole: "developer",
  emptyContent: "null",
  blankToolOutput: true,
  emptyTools: true
}

describe("LlmOpenAiCompatible", () => {
  describe("the request", () => {
    it.live("holds nothing that only some servers know", () =>
      Effect.gen(function* () {
        const { body } = yield* ask({ messages: history, header: { system: "Be brief." } })
        assert.strictEqual(
          body,
          '{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[' +
            '{"role":"system","content":"Be brief."},{"role":"user","content":"hi"},' +
            '{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{}"}}]},' +
            '{"role":"tool","tool_call_id":"c","content":"(no output)"},' +
            '{"role":"assistant","content":"","tool_calls":[{"id":"d","type":"function","function":{"name":"read","arguments":"{}"}}]},' +
            '{"role":"tool","tool_call_id":"d","content":"ok"}]}'
        )
      })
    )

    it.live("bends to every quirk", () =>
      Effect.gen(function* () {
        const config = { maxTokens: 7, reasoningEffort: "low" }
        const { body } = yield* quirky(odd, { config, header: { system: "Be brief." } })
        assert.strictEqual(
          body,
          '{"model":"m","stream":true,"reasoning":{"effort":"low"},"tools":[],"max_completion_tokens":7,"messages":[' +
            '{"role":"developer","content":"Be brief."},{"role":"user","content":"hi"},' +
            '{"role":"assistant","content":null,"reasoning":"so","tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{}"}}]},' +
            '{"role":"tool","tool_call_id":"c","content":""},' +
            '{"role":"assistant","content":null,"reasoning":"","tool_calls":[{"id":"d","type":"function","function":{"name":"read","arguments":"{}"}}]},' +
            '{"role":"tool","tool_call_id":"d","content":"ok"}]}'
        )
      })
    )

    it.live("replays reasoning under DeepSeek's name for models that refuse to go on without", () =>
      Effect.gen(function* () {
        const { json } = yield* quirky({ reasoning: "reasoning_content" })
        assert.deepStrictEqual(
          json?.messages.map(({ reasoning_content }) => reasoning_content),
          [undefined, "so", undefined, "", undefined]
        )
      })
    )

    it.live("is written again from the log alone, whatever the adapter is by then", () =>
      Effect.gen(function* () {
        for (const quirks of [{}, odd]) {
          const { body, header } = yield* quirky(quirks, { config: { reasoningEffort: "off" } })
          const bytes = new TextEncoder().encode(body)
          const digest = newHash()
          digest.update(bytes)
          const events = [
            ...history.map(logged),
            { type: "request/header", data: { header, reason: "start" } },
            {
              type: "request/sent",
              data: { turn: 1, step: 1, attempt: 1, bytes: bytes.length, sha256: digest.digest("hex"), of: "wire" }
            }
          ].map((event, seq) => ({ ...event, seq, time: 1 }))
          const log = JSON.parse(JSON.stringify(events)) as ReadonlyArray<SessionEvent>
          const formatOf = (name: string) =>
            name === ChatCompletions.format.format ? ChatCompletions.format : undefined
          assert.deepStrictEqual(
            [...verify(log, formatOf, newHash)].map(({ problem }) => problem),
            [undefined]
          )
        }
      })
    )

    it.live("says how hard to think in the words of the server, or refuses to be asked", () =>
      Effect.gen(function* () {
        const sent = (settings: Settings, reasoningEffort?: string, purpose: Purpose = "agent") =>
          Effect.map(
            ask({ settings, purpose, ...(reasoningEffort !== undefined && { config: { reasoningEffort } }) }),
            ({ json }) => json?.reasoning_effort
          )
        assert.strictEqual(yield* sent({}), undefined)
        assert.strictEqual(yield* sent({}, "whatever"), "whatever")
        assert.strictEqual(yield* sent({}, "off"), "none")
        assert.strictEqual(yield* sent({ reasoningEffort: "low" }), "low")
        assert.strictEqual(yield* sent({ reasoningEffort: "low" }, "high"), "high")
        assert.strictEqual(yield* sent({ reasoningEffort: "low" }, undefined, "session-title"), undefined)
        const never = yield* Effect.flip(sent({ quirks: { effort: "none" } }, "low"))
        assert.strictEqual(never.code, "UNSUPPORTED_REASONING_EFFORT")
        const unknown = yield* Effect.flip(sent({ efforts: ["low", "high"] }, "medium"))
        assert.strictEqual(unknown.code, "UNSUPPORTED_REASONING_EFFORT")
        assert.include(unknown.message, "choose low, high")
      })
    )

    it.live("leaves the output limit to the server unless somebody names one, and marks what was filled in", () =>
      Effect.gen(function* () {
        const prepared = (settings: Settings, config: Partial<LlmCallConfig> = {}) =>
          Effect.flatMap(make("http://x", settings), (adapter) => prepare(adapter, { config }))
        const plain = yield* prepared({})
        assert.deepStrictEqual(
          [plain.config, plain.adapterDefaults, plain.model],
          [
            { provider: "local", model: "m" },
            {},
            { provider: "local", id: "m", name: "m", contextWindow: 128_000, inputModalities: ["text"] }
          ]
        )
        const models = [{ id: "m", name: "M", contextWindow: 10, maxTokens: 5 }]
        const known = yield* prepared({ models, maxTokens: 9, reasoningEffort: "low" })
        assert.deepStrictEqual([known.config.maxTokens, known.model.contextWindow, known.model.name], [5, 10, "M"])
        assert.deepStrictEqual(known.adapterDefaults, { maxTokens: true, reasoningEffort: true })
        const other = yield* prepared({ models, maxTokens: 9 }, { model: "n" })
        assert.strictEqual(other.config.maxTokens, 9)
        assert.strictEqual((yield* prepared({ models }, { maxTokens: 1 })).config.maxTokens, 1)
      }).pipe(Effect.scoped, Effect.provide(HttpClientNode.layer))
    )
  })

  describe("the key", () => {
    it.live("is left out where there is none, and other headers are sent", () =>
      Effect.gen(function* () {
        const { headers } = yield* ask({
          settings: { headers: { "x-title": "dsh", "api-key": key, "user-agent": "mine/1" } }
        })
        assert.isFalse("authorization" in headers)
        assert.deepStrictEqual(
          [headers["x-title"], headers["api-key"], headers["user-agent"]],
          ["dsh", secret, "mine/1"]
        )
      })
    )

    it.live("is looked up for each request; a header that is a secret is as little shown as it", () =>
      Effect.gen(function* () {
        let asked = 0
        const apiKey = Effect.sync(() => Effect.succeedSome(Redacted.make(`key-number-${++asked}`))).pipe(
          Effect.flatten
        )
        const { headers } = yield* ask({ settings: { apiKey } })
        assert.strictEqual(headers.authorization, "Bearer key-number-1")
        const quoting = Reply.error(401, { message: `${secret} and key-number-2 are no good` })
        const { answer } = yield* ask(
          { settings: { apiKey, keyName: "THE_KEY", headers: { "api-key": key } } },
          quoting
        )
        assert.strictEqual(answer.error?.code, "AUTH")
        assert.strictEqual(answer.error?.message, "[concealed] and [concealed] are no good; check the key in THE_KEY")
      })
    )

    const request = (env: Record<string, string>, keyName: string | undefined, url: string) =>
      Effect.gen(function* () {
        const llm = yield* Llm.Llm
        const call = yield* llm.prepare({ provider: "local", model: "m" })
        const header: EpochHeader = { config: call.config, wire: call.wire }
        const bytes = new TextEncoder().encode(render(header, hello))
        return yield* collect(call.stream({ header, messages: hello, body: { bytes, sha256: "", of: "wire" } }))
      }).pipe(
        Effect.provide(
          LlmOpenAiCompatible.layerConfig({
            provider: "local",
            baseUrl: `${url}/v1//`,
            ...(keyName !== undefined && { keyName })
          }).pipe(
            Layer.provideMerge(Llm.layer),
            Layer.provide(HttpClientNode.layer),
            Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))))
          )
        )
      )

    it.live("comes from the configuration under the name that is given", () =>
      Effect.gen(function* () {
        const server = yield* MockLlm.make({ apiKey: secret })
        assert.isUndefined((yield* request({ THE_KEY: ` ${secret}\n` }, "THE_KEY", server.url)).error)
        const wrong = yield* request({ THE_KEY: "other" }, "THE_KEY", server.url)
        assert.strictEqual(wrong.error?.code, "AUTH")
        assert.include(wrong.error?.message, "THE_KEY")
        for (const env of [{}, { THE_KEY: " " }]) {
          const { error } = yield* request(env, "THE_KEY", server.url)
          assert.strictEqual(error?.code, "MISSING_CREDENTIAL")
          assert.include(error?.message, "THE_KEY")
        }
        const bad = yield* request({ THE_KEY: "sk-“secret”" }, "THE_KEY", server.url)
        assert.strictEqual(bad.error?.code, "INVALID_CREDENTIAL")
        assert.notInclude(bad.error?.message, "secret")
      }).pipe(Effect.scoped)
    )

    it.live("is not asked for by a server that needs none", () =>
      Effect.gen(function* () {
        const server = yield* MockLlm.make()
        assert.isUndefined((yield* request({}, undefined, server.url)).error)
      }).pipe(Effect.scoped)
    )
  })

  describe("the models", () => {
    const models = (reply: Reply.Reply | ReadonlyArray<string>, settings: Settings = {}) =>
      Effect.gen(function* () {
        const server = yield* MockLlm.make({ models: reply })
        const adapter = yield* make(server.url, settings)
        return yield* adapter.models("local")
      }).pipe(Effect.scoped, Effect.provide(HttpClientNode.layer))

    const listed = (body: unknown) =>
      Effect.map(models(Reply.http(200, { body })), (list) =>
        list.map(({ contextWindow, defaultMaxTokens, id, inputModalities, name }) =>
          [id, name, contextWindow, defaultMaxTokens, inputModalities?.join("+")].filter((v) => v !== undefined)
        )
      )

    it.live("are those of the catalog, or what the server lists", () =>
      Effect.gen(function* () {
        const names = (list: ReadonlyArray<{ readonly id: string }>) => list.map(({ id }) => id)
        assert.deepStrictEqual(names(yield* models(["a", "b"])), ["a", "b"])
        assert.deepStrictEqual(names(yield* models(["a", "b"], { models: [{ id: "c" }] })), ["c"])
        assert.deepStrictEqual(names(yield* models(["a"], { models: [] })), [])
      })
    )

    it.live("are read in every shape servers list them in", () =>
      Effect.gen(function* () {
        const unknown = [128_000, "text"]
        assert.deepStrictEqual(
          yield* listed({
            data: [
              { id: "openai" },
              { id: "vllm", max_model_len: 4096 },
              { id: "groq", context_window: 8192, max_completion_tokens: 100 },
              { id: "llama.cpp", meta: { n_ctx_train: 2048 } },
              {
                id: "open/router",
                name: "Open Router",
                context_length: 9,
                top_provider: { max_completion_tokens: 5 },
                architecture: { input_modalities: ["text", "image"] }
              },
              { id: "openai" },
              { id: 7 },
              null,
              "name"
            ]
          }),
          [
            ["openai", "openai", ...unknown],
            ["vllm", "vllm", 4096, "text"],
            ["groq", "groq", 8192, 100, "text"],
            ["llama.cpp", "llama.cpp", 2048, "text"],
            ["open/router", "Open Router", 9, 5, "text+image"],
            ["name", "name", ...unknown]
          ]
        )
        assert.deepStrictEqual(yield* listed([{ id: "a", context_length: -1 }]), [["a", "a", ...unknown]])
        assert.deepStrictEqual(yield* listed({ models: [{ name: "b", model: "b:latest" }] }), [
          ["b:latest", "b", ...unknown]
        ])
        assert.deepStrictEqual(yield* listed({ data: [] }), [])
      })
    )

    it.live("that cannot be listed say why, and not with which key", () =>
      Effect.gen(function* () {
        const settings = { apiKey: Effect.succeedSome(key), keyName: "THE_KEY" }
        const failures: ReadonlyArray<readonly [Reply.Reply, string]> = [
          [Reply.error(401, { message: `no such key: ${secret}` }), "check the key in THE_KEY"],
          [Reply.error(404, { message: "nothing here" }), "nothing here"],
          [Reply.http(200, { body: `<title>Welcome ${secret}</title>` }), "no list of models"],
          [Reply.http(200, { body: { data: "none" } }), "no list of models"],
          [Reply.http(200, { body: '{"data":[{"id":' }), "no list of models"],
          [Reply.sse(`[${" ".repeat(5_000_000)}]`, { ending: "hold" }), "longer than 4 MB"],
          [Reply.sse('{"data":[', { ending: "reset" }), "connection reset"]
        ]
        for (const [reply, why] of failures) {
          const error = yield* Effect.flip(models(reply, settings))
          assert.strictEqual(error.code, "DISCOVERY_FAILED")
          assert.include(error.message, why)
          assert.notInclude(JSON.stringify([error.message, error.cause]), secret)
        }
        const refused = (yield* MockLlm.refusedUrl).replace("//", "//me:pw@")
        const { code, message } = yield* Effect.flip(
          Effect.flatMap(make(refused, settings), (adapter) => adapter.models("local"))
        )
        assert.strictEqual(code, "DISCOVERY_FAILED")
        assert.include(message, "connection refused")
        assert.notInclude(message, "pw")
        const missing = yield* LlmOpenAiCompatible.keyConfig("THE_KEY")
        const keyless = yield* Effect.flip(models(["a"], { apiKey: missing }))
        assert.strictEqual(keyless.code, "MISSING_CREDENTIAL")
      }).pipe(
        Effect.scoped,
        Effect.provide(HttpClientNode.layer),
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map()))
      )
    )

    it.effect("are not waited for for ever, and asked for with the key", () =>
      Effect.gen(function* () {
        let asked: Readonly<Record<string, string>> = {}
        const client = HttpClient.make((request) => {
          asked = { url: request.url, ...request.headers }
          return Effect.never
        })
        const adapter = yield* Effect.provideService(
          make("http://x/v1", { apiKey: Effect.succeedSome(key), headers: { "x-title": "dsh" } }),
          HttpClient.HttpClient,
          client
        )
        const fiber = yield* Effect.fork(Effect.flip(adapter.models("local")))
        yield* TestClock.adjust("15 seconds")
        const error = yield* Fiber.join(fiber)
        assert.strictEqual(error.code, "DISCOVERY_FAILED")
        assert.include(error.message, "15 seconds")
        assert.deepStrictEqual(
          [asked.url, asked.authorization, asked["x-title"]],
          ["http://x/v1/models", `Bearer ${secret}`, "dsh"]
        )
      }).pipe(Effect.scoped)
    )
  })

  it.live("stands next to others in one registry, each on its route", () =>
    Effect.gen(function* () {
      const llm = yield* Llm.Llm
      assert.deepStrictEqual(yield* llm.providers, [
        { id: "one", name: "One" },
        { id: "two", name: "two" }
      ])
      assert.strictEqual(llm.retryPolicy("one").maxRetries, 1)
      assert.strictEqual(llm.retryPolicy("two").maxRetries, 5)
      assert.strictEqual(llm.format("chat-completions"), ChatCompletions.format)
    }).pipe(
      Effect.provide(
        Layer.mergeAll(
          LlmOpenAiCompatible.layer({
            provider: "one",
            name: "One",
            baseUrl: "http://one",
            retryPolicy: {
              mode: "normal",
              maxRetries: 1,
              retryableCodes: [],
              initialDelayMs: 1,
              maxDelayMs: 1,
              jitterRatio: 0
            }
          }),
          LlmOpenAiCompatible.layerConfig({ provider: "two", baseUrl: "http://two" })
        ).pipe(Layer.provideMerge(Llm.layer), Layer.provide(HttpClientNode.layer))
      )
    )
  )
})

describe("tools", () => {
  it.live("on offer are what leaked calls are held against", () =>
    Effect.gen(function* () {
      const markup = '<｜DSML｜invoke name="read"></｜DSML｜invoke>'
      const { answer } = yield* ask({ header: { tools } }, Reply.text(markup))
      assert.deepStrictEqual(answer.message.finish, { kind: "tool-calls" })
    })
  )
})
