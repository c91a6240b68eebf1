/**
 * The DeepSeek API as a model adapter: route, catalog, thinking modes, credentials and headers around the chat-completions wire code.
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
import type { AdapterCall, LlmAdapter, LlmRequest, Purpose } from "./LlmAdapter.ts"
import * as Catalog from "./LlmDeepSeek/Catalog.ts"
import * as Connection from "./LlmDeepSeek/Connection.ts"
import * as Thinking from "./LlmDeepSeek/Thinking.ts"
import type { Effort } from "./LlmDeepSeek/Thinking.ts"
import { LlmError } from "./LlmError.ts"
import * as ModelCatalog from "./ModelCatalog.ts"
import type { CatalogEntry } from "./ModelCatalog.ts"
import type { RetryPolicy } from "./RetryPolicy.ts"
import { UserAgent } from "./UserAgent.ts"

export type { CatalogEntry } from "./ModelCatalog.ts"
export type { Connection } from "./LlmDeepSeek/Connection.ts"
export {
  fixed as connection,
  fromConfig as connectionConfig,
  fromCredentials as connectionCredentials,
  keyName
} from "./LlmDeepSeek/Connection.ts"
export type { Effort } from "./LlmDeepSeek/Thinking.ts"

/** The route id that configurations name. */
export const provider = "deepseek-official"

export interface Settings extends ChatCompletions.Timeouts {
  /** `disabled` locks thinking off for every call. */
  readonly thinking?: "enabled" | "disabled"
  /** Used where a call names none. Default `high`. */
  readonly reasoningEffort?: Effort
  /** Output ceiling in tokens where neither call nor catalog names one. Default 256 000. */
  readonly maxTokens?: number
  /** In tokens, for models the catalog says nothing about. Default 1 000 000. */
  readonly defaultContextWindow?: number
  /** Replaces the built-in catalog. Advisory: any other model id is passed on. */
  readonly models?: ReadonlyArray<CatalogEntry>
  /** When a failed request is tried again. Default: `RetryPolicy.normal`. */
  readonly retryPolicy?: RetryPolicy
  /** Sends the official host who is asking: this user id, the session, and whether the call is a compaction. Off by default. */
  readonly attribution?: { readonly userId: string }
}

export interface Options extends Settings {
  /** Runs once per request. */
  readonly connection: Effect.Effect<Connection.Connection, LlmError>
}

/** The adapter. Its calls fail with `UNSUPPORTED_REASONING_EFFORT` or `UNSUPPORTED_OPTION` before anything is sent. */
export const make = (options: Options): Effect.Effect<LlmAdapter, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    const client = ChatCompletions.quiet(yield* HttpClient.HttpClient)
    const lifetime = yield* ChatCompletions.lifetime
    const userAgent = yield* UserAgent
    const attachments = Option.getOrUndefined(yield* Effect.serviceOption(Attachments))
    const catalog = options.models ?? Catalog.models
    const thinking = Thinking.policy(options)
    const defaultMaxTokens = options.maxTokens ?? 256_000
    const defaults: ModelCatalog.Defaults = {
      provider,
      contextWindow: options.defaultContextWindow ?? 1_000_000,
      maxTokens: defaultMaxTokens,
      reasoning: { efforts: thinking.efforts, defaultEffort: thinking.defaultEffort }
    }
    const limits = ChatCompletions.limits(options)

    const stream = (request: LlmRequest) =>
      ChatCompletions.stream(
        Effect.map(options.connection, ({ apiKey, baseUrl }) => ({
          client,
          lifetime,
          attachments,
          apiKey,
          limits,
          endpoint: { name: "DeepSeek", url: baseUrl, keyName: Connection.keyName, urlName: Connection.urlName },
          headers: { "user-agent": userAgent, ...attribution(options, baseUrl, request) }
        })),
        request
      )

    const prepare = (config: LlmCallConfig, purpose: Purpose): Effect.Effect<AdapterCall, LlmError> =>
      Effect.gen(function* () {
        yield* supported(config)
        const mode = yield* thinking.resolve(config.reasoningEffort, purpose)
        const model = ModelCatalog.resolve(catalog, config.model, defaults)
        const maxTokens = config.maxTokens ?? model.defaultMaxTokens ?? defaultMaxTokens
        return {
          config: { ...config, reasoningEffort: mode.effort, maxTokens },
          adapterDefaults: {
            ...(config.reasoningEffort === undefined && { reasoningEffort: true }),
            ...(config.maxTokens === undefined && { maxTokens: true })
          },
          wire: ChatCompletions.profile({
            ...mode.profile,
            ...(attachments !== undefined && ModelCatalog.images(model))
          }),
          model,
          stream
        }
      })

    return {
      providers: [{ id: provider, name: "DeepSeek" }],
      formats: [ChatCompletions.format],
      ...(options.retryPolicy !== undefined && { retryPolicy: options.retryPolicy }),
      models: () => Effect.succeed(catalog.map((entry) => ModelCatalog.describe(entry, defaults))),
      prepare
    }
  })

/** Serves the route `deepseek-official`. */
export const layer = (options: Options): Layer.Layer<never, LlmError, Llm | HttpClient.HttpClient> =>
  layerAdapter(make(options))

/**
 * The same with `DEEPSEEK_API_KEY` and `DEEPSEEK_BASE_URL` from the configuration. Without a key the layer still builds, and a
 * request fails with `MISSING_CREDENTIAL`.
 */
export const layerConfig = (settings: Settings = {}): Layer.Layer<never, LlmError, Llm | HttpClient.HttpClient> =>
  layerAdapter(Effect.flatMap(Connection.fromConfig, (connection) => make({ ...settings, connection })))

const maxStops = 16

const supported = ({ stop }: LlmCallConfig): Effect.Effect<void, LlmError> =>
  stop !== undefined && stop.length > maxStops
    ? Effect.fail(
        new LlmError({
          code: "UNSUPPORTED_OPTION",
          message: `DeepSeek takes at most ${maxStops} stop sequences, not ${stop.length}; pass fewer`
        })
      )
    : Effect.void

// Who asks is nobody's business but the official host's, and only when the user agreed.
const attribution = (
  settings: Settings,
  baseUrl: string,
  { purpose, sessionId }: LlmRequest
): Readonly<Record<string, string>> =>
  settings.attribution === undefined || baseUrl !== Connection.officialUrl
    ? {}
    : {
        "x-deepseek-harness-user-id": encodeURIComponent(settings.attribution.userId),
        ...(sessionId !== undefined && { "x-deepseek-harness-session-id": sessionId }),
        ...(purpose === "compaction" && { "x-deepseek-harness-compact": "1" })
      }
