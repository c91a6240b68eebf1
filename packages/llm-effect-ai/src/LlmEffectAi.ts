/**
 * Any language model of @effect/ai as a model adapter: the library writes the request and reads the events, the exchange itself is the
 * house's own (proxies, certificates, limits, error codes, the key).
 *
 * Where the library would change what is said, its requests and answers are set right on the way, for the two wire formats it speaks
 * here, OpenAI's Responses and Anthropic's Messages: tool results are sent as they are rather than as JSON, functions are not declared
 * strict, events lose what the library's schemas refuse, and the arguments of calls come as the model wrote them. A provider that speaks
 * another format works as far as the library does: a call of a tool that was not on offer, or whose arguments are garbled, is then an
 * answer that cannot be read.
 *
 * Images are placeholders, and reasoning goes back only to the route and model it came from.
 */
import * as Ids from "@dsh/kernel/Ids"
import * as ApiKey from "@dsh/llm/ApiKey"
import * as ChatCompletions from "@dsh/llm/ChatCompletions"
import * as LibraryTransport from "@dsh/llm/LibraryTransport"
import { layerAdapter } from "@dsh/llm/Llm"
import type { Llm } from "@dsh/llm/Llm"
import type { AdapterCall, LlmAdapter, LlmRequest, Purpose } from "@dsh/llm/LlmAdapter"
import { LlmError } from "@dsh/llm/LlmError"
import * as ModelCatalog from "@dsh/llm/ModelCatalog"
import type { RetryPolicy } from "@dsh/llm/RetryPolicy"
import { neutral } from "@dsh/protocol/NeutralRequest"
import type { LlmCallConfig } from "@dsh/protocol/Request"
import type { LanguageModel } from "@effect/ai/LanguageModel"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Answer from "./LlmEffectAi/Answer.ts"

/** What a model is made for. */
export interface Call {
  /** With the adapter's defaults filled in. */
  readonly config: LlmCallConfig
  readonly purpose: Purpose
}

export interface Settings extends ChatCompletions.Timeouts {
  /** The route id that configurations name, such as `anthropic`. */
  readonly provider: string
  /** For people. Default: the route id. */
  readonly name?: string
  /** Makes the model of one request, over the client it is given. It passes on what the call names; see `honours` and `efforts`. */
  readonly model: (call: Call) => Layer.Layer<LanguageModel, LlmError | ConfigError, HttpClient.HttpClient>
  /** The name the key is known by, in messages and for `layerConfig`: an environment variable, mostly. */
  readonly keyName?: string
  /** Sent with every request. Secrets belong into a `Redacted`. */
  readonly headers?: ChatCompletions.Headers
  /** Advisory: any other model id is passed on. */
  readonly models?: ReadonlyArray<ModelCatalog.CatalogEntry>
  /** In tokens, for models nothing is known of. Default 200 000. */
  readonly defaultContextWindow?: number
  /** Output ceiling in tokens where neither call nor catalog names one. Default: none is named, so that the model's own holds. */
  readonly maxTokens?: number
  /** The fields of a call that `model` passes on. A call that names another one is refused. Default: `maxTokens` and `temperature`. */
  readonly honours?: ReadonlyArray<"maxTokens" | "temperature" | "stop">
  /** The reasoning efforts that `model` passes on. Default: none. */
  readonly efforts?: ReadonlyArray<string>
  /** Used where a call names none. Default: none is named. */
  readonly reasoningEffort?: string
  /** When a failed request is tried again. Default: `RetryPolicy.normal`. */
  readonly retryPolicy?: RetryPolicy
}

export interface Options extends Settings {
  /** Runs once per request, and takes precedence over a key that the model has of its own. Default: the model's own, if it has one. */
  readonly apiKey?: ApiKey.Key
}

/** The adapter. Its calls fail with `UNSUPPORTED_OPTION` or `UNSUPPORTED_REASONING_EFFORT` before anything is sent. */
export const make = (options: Options): Effect.Effect<LlmAdapter, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    const transport = yield* LibraryTransport.make
    const { models: catalog = [], provider } = options
    const name = options.name ?? provider
    const keyName = options.keyName ?? `the settings of ${name}`
    const defaults: ModelCatalog.Defaults = {
      provider,
      contextWindow: options.defaultContextWindow ?? 200_000,
      ...(options.maxTokens !== undefined && { maxTokens: options.maxTokens }),
      ...(options.efforts !== undefined && {
        reasoning: {
          efforts: options.efforts,
          ...(options.reasoningEffort !== undefined && { defaultEffort: options.reasoningEffort })
        }
      })
    }
    const exchange = {
      transport,
      endpoint: { name, keyName, urlName: `the address that the model of ${name} is made with` },
      limits: ChatCompletions.limits(options),
      ...(options.headers !== undefined && { headers: options.headers })
    }

    const key: Effect.Effect<LibraryTransport.Key, LlmError> =
      options.apiKey === undefined
        ? Effect.succeed("library")
        : Effect.flatMap(
            options.apiKey,
            Option.match({
              onNone: () => Effect.succeed<LibraryTransport.Key>("none"),
              onSome: (apiKey) => ChatCompletions.usableKey(apiKey, keyName)
            })
          )

    const stream = (request: LlmRequest, purpose: Purpose) =>
      Answer.stream(
        Effect.gen(function* () {
          return {
            header: request.header,
            messages: request.messages,
            model: options.model({ config: request.header.config, purpose }),
            asked: ChatCompletions.asked(request, yield* Ids.IdSource),
            line: { ...exchange, key: yield* key }
          }
        })
      )

    const prepare = (config: LlmCallConfig, purpose: Purpose): Effect.Effect<AdapterCall, LlmError> =>
      Effect.gen(function* () {
        // A title is worth no thought.
        const effort = config.reasoningEffort ?? (purpose === "session-title" ? undefined : options.reasoningEffort)
        yield* supported(name, options, config, effort)
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
          wire: { format: neutral.format },
          model,
          stream: (request) => stream(request, purpose)
        }
      })

    return {
      providers: [{ id: provider, name }],
      formats: [neutral],
      ...(options.retryPolicy !== undefined && { retryPolicy: options.retryPolicy }),
      models: () => Effect.succeed(catalog.map((entry) => ModelCatalog.describe(entry, defaults))),
      prepare
    }
  })

/** Serves the route. */
export const layer = (options: Options): Layer.Layer<never, LlmError, Llm | HttpClient.HttpClient> =>
  layerAdapter(make(options))

/**
 * The same with the key that the configuration has under `keyName`. Without a key the layer still builds, and a request fails with
 * `MISSING_CREDENTIAL`; without a `keyName` the model's own key is sent.
 */
export const layerConfig = (settings: Settings): Layer.Layer<never, LlmError, Llm | HttpClient.HttpClient> =>
  layerAdapter(
    settings.keyName === undefined
      ? make(settings)
      : Effect.flatMap(ApiKey.fromConfig(settings.keyName), (apiKey) => make({ ...settings, apiKey }))
  )

const supported = (
  name: string,
  { efforts = [], honours = ["maxTokens", "temperature"] }: Options,
  config: LlmCallConfig,
  effort: string | undefined
): Effect.Effect<void, LlmError> => {
  for (const field of ["maxTokens", "temperature", "stop"] as const) {
    const value = config[field]
    const isNamed = Array.isArray(value) ? value.length > 0 : value !== undefined
    if (isNamed && !honours.includes(field))
      return Effect.fail(
        new LlmError({
          code: "UNSUPPORTED_OPTION",
          message: `${name} does not pass on ${field}; leave it out, or make its model with it and list it under \`honours\``
        })
      )
  }
  if (effort === undefined || efforts.includes(effort)) return Effect.void
  return Effect.fail(
    new LlmError({
      code: "UNSUPPORTED_REASONING_EFFORT",
      message:
        `${name} does not offer the reasoning effort "${effort}"; ` +
        (efforts.length === 0 ? "leave it out" : `choose ${efforts.join(", ")}`)
    })
  )
}
