/**
 * Any server that speaks chat completions as a model adapter: vLLM, llama.cpp, Ollama, OpenRouter, gateways. One adapter is one server;
 * what it does differently are its quirks, which are logged with each request.
 * Models that take images are sent them, where there are `Attachments` and the catalog says so; others are told of them in words.
 */
import { Attachments } from "@dsh/attachments/Attachments"
import * as HttpClient from "@effect/platform/HttpClient"
import type { LlmCallConfig } from "@dsh/protocol/Request"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as ChatCompletions from "./ChatCompletions.ts"
import { layerAdapter } from "./Llm.ts"
import type { Llm } from "./Llm.ts"
import type { AdapterCall, LlmAdapter, Purpose } from "./LlmAdapter.ts"
import { LlmError } from "./LlmError.ts"
import { discover } from "./LlmOpenAiCompatible/Discovery.ts"
import * as Key from "./ApiKey.ts"
import * as Quirks from "./LlmOpenAiCompatible/Quirks.ts"
import * as ModelCatalog from "./ModelCatalog.ts"
import type { RetryPolicy } from "./RetryPolicy.ts"
import { UserAgent } from "./UserAgent.ts"

export type { Key } from "./ApiKey.ts"
export { fromConfig as keyConfig } from "./ApiKey.ts"
export type { Quirks } from "./LlmOpenAiCompatible/Quirks.ts"

export interface Settings extends ChatCompletions.Timeouts {
  /** The route id that configurations name, such as `openrouter`. */
  readonly provider: string
  /** For people. Default: the route id. */
  readonly name?: string
  /** What `/chat/completions` and `/models` are appended to, such as `http://localhost:11434/v1`. */
  readonly baseUrl: string
  /** The name the key is known by, in messages and for `layerConfig`: an environment variable, mostly. */
  readonly keyName?: string
  /** Sent with every request. Secrets belong into a `Redacted`. */
  readonly headers?: ChatCompletions.Headers
  /** Advisory: any other model id is passed on. Default: what the server lists, asked each time. */
  readonly models?: ReadonlyArray<ModelCatalog.CatalogEntry>
  /** In tokens, for models nothing is known of. Default 128 000. */
  readonly defaultContextWindow?: number
  /** Output ceiling in tokens where neither call nor catalog names one. Default: none is sent, so that the server's own holds. */
  readonly maxTokens?: number
  /** The reasoning efforts that calls may ask for. Default: whatever they ask for is passed on. */
  readonly efforts?: ReadonlyArray<string>
  /** Used where a call names none. Default: none is sent. */
  readonly reasoningEffort?: string
  readonly quirks?: Quirks.Quirks
  /** When a failed request is tried again. Default: `RetryPolicy.normal`. */
  readonly retryPolicy?: RetryPolicy
}

export interface Options extends Settings {
  /** Runs once per request. Default: no key is sent. */
  readonly apiKey?: Key.Key
}

/** The adapter. Its calls fail with `UNSUPPORTED_REASONING_EFFORT` before anything is sent, its list of models with `DISCOVERY_FAILED`. */
export const make = (options: Options): Effect.Effect<LlmAdapter, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    const client = ChatCompletions.quiet(yield* HttpClient.HttpClient)
    const lifetime = yield* ChatCompletions.lifetime
    const userAgent = yield* UserAgent
    const attachments = Option.getOrUndefined(yield* Effect.serviceOption(Attachments))
    const { models: catalog = [], provider, quirks = {} } = options
    const name = options.name ?? provider
    const keyName = options.keyName ?? `the settings of ${name}`
    const efforts = quirks.effort === "none" ? [] : options.efforts
    const defaults: ModelCatalog.Defaults = {
      provider,
      contextWindow: options.defaultContextWindow ?? 128_000,
      ...(options.maxTokens !== undefined && { maxTokens: options.maxTokens }),
      ...(efforts !== undefined && {
        reasoning: {
          efforts,
          ...(options.reasoningEffort !== undefined && { defaultEffort: options.reasoningEffort })
        }
      })
    }
    const fixed = {
      client,
      lifetime,
      attachments,
      limits: ChatCompletions.limits(options),
      endpoint: {
        name,
        url: ChatCompletions.baseUrl(options.baseUrl),
        keyName,
        urlName: `the base URL of ${name}`
      },
      headers: { "user-agent": userAgent, ...options.headers }
    }

    const resolve: Effect.Effect<ChatCompletions.Options, LlmError> = Effect.flatMap(
      options.apiKey ?? Effect.succeedNone,
      Option.match({
        onNone: () => Effect.succeed(fixed),
        onSome: (key) => Effect.map(ChatCompletions.usableKey(key, keyName), (apiKey) => ({ ...fixed, apiKey }))
      })
    )

    const prepare = (config: LlmCallConfig, purpose: Purpose): Effect.Effect<AdapterCall, LlmError> =>
      Effect.gen(function* () {
        // A title is worth no thought.
        const defaultEffort = purpose === "session-title" ? undefined : options.reasoningEffort
        const effort = config.reasoningEffort ?? defaultEffort
        if (effort !== undefined && efforts?.includes(effort) === false)
          return yield* unsupported(name, effort, efforts)
        const model = ModelCatalog.resolve(catalog, config.model, defaults)
        const maxTokens = config.maxTokens ?? model.defaultMaxTokens
        return {
          config: {
            ...config,
            ...(effort !== undefined && { reasoningEffort: effort }),
            ...(maxTokens !== undefined && { maxTokens })
          },
          adapterDefaults: {
            ...(config.reasoningEffort === undefined && effort !== undefined && { reasoningEffort: true }),
            ...(config.maxTokens === undefined && maxTokens !== undefined && { maxTokens: true })
          },
          wire: ChatCompletions.profile({
            ...Quirks.profile(quirks, effort),
            ...(attachments !== undefined && ModelCatalog.images(model))
          }),
          model,
          stream: (request) => ChatCompletions.stream(resolve, request)
        }
      })

    return {
      providers: [{ id: provider, name }],
      formats: [ChatCompletions.format],
      ...(options.retryPolicy !== undefined && { retryPolicy: options.retryPolicy }),
      models: () =>
        Effect.map(
          options.models === undefined ? Effect.flatMap(resolve, discover) : Effect.succeed(catalog),
          (entries) => entries.map((entry) => ModelCatalog.describe(entry, defaults))
        ),
      prepare
    }
  })

/** Serves the route. */
export const layer = (options: Options): Layer.Layer<never, LlmError, Llm | HttpClient.HttpClient> =>
  layerAdapter(make(options))

/**
 * The same with the key that the configuration has under `keyName`. Without a key the layer still builds, and a request fails with
 * `MISSING_CREDENTIAL`; without a `keyName` no key is sent.
 */
export const layerConfig = (settings: Settings): Layer.Layer<never, LlmError, Llm | HttpClient.HttpClient> =>
  layerAdapter(
    settings.keyName === undefined
      ? make(settings)
      : Effect.flatMap(Key.fromConfig(settings.keyName), (apiKey) => make({ ...settings, apiKey }))
  )

const unsupported = (name: string, asked: string, efforts: ReadonlyArray<string>): LlmError =>
  new LlmError({
    code: "UNSUPPORTED_REASONING_EFFORT",
    message:
      `${name} does not offer the reasoning effort "${asked}"; ` +
      (efforts.length === 0 ? "leave it out" : `choose ${efforts.join(", ")}`)
  })
