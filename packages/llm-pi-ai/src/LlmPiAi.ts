/**
 * Any provider that the pi-ai library speaks to as a model adapter: OpenAI's Chat Completions and Responses, Anthropic's Messages, and
 * the servers that imitate them. pi-ai writes the request and reads the events; the exchange itself, and with it every failure, is the
 * house's own.
 *
 * What pi-ai does not do here: it sees no key, tries nothing again, counts no tokens (its counts know no reasoning, and no difference
 * between none and zero), and shows no reasoning of another model as text. Images are sent to models that take
 * them, where there are `Attachments`; others are told of them in words. Stop sequences are refused, because
 * pi-ai has none; so is a temperature for a thinking model of Anthropic, because pi-ai would drop it.
 */
import { Attachments } from "@dsh/attachments/Attachments"
import * as Ids from "@dsh/kernel/Ids"
import * as ApiKey from "@dsh/llm/ApiKey"
import * as ChatCompletions from "@dsh/llm/ChatCompletions"
import * as ChunkStream from "@dsh/llm/ChunkStream"
import * as LibraryTransport from "@dsh/llm/LibraryTransport"
import { layerAdapter } from "@dsh/llm/Llm"
import type { Llm } from "@dsh/llm/Llm"
import type { AdapterCall, LlmAdapter, LlmRequest, Purpose } from "@dsh/llm/LlmAdapter"
import { LlmError } from "@dsh/llm/LlmError"
import * as ModelCatalog from "@dsh/llm/ModelCatalog"
import type { RetryPolicy } from "@dsh/llm/RetryPolicy"
import * as ShownImages from "@dsh/llm/ShownImages"
import { neutral } from "@dsh/protocol/NeutralRequest"
import type { LlmCallConfig } from "@dsh/protocol/Request"
import type { ThinkingLevel } from "@earendil-works/pi-ai"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Answer from "./LlmPiAi/Answer.ts"
import * as Conversation from "./LlmPiAi/Conversation.ts"
import * as Library from "./LlmPiAi/Library.ts"
import * as Profile from "./LlmPiAi/Profile.ts"

export type { Api, Compat, Effort } from "./LlmPiAi/Profile.ts"

export interface Settings extends ChatCompletions.Timeouts {
  /** The route id that configurations name, such as `anthropic`. */
  readonly provider: string
  /** For people. Default: the route id. */
  readonly name?: string
  readonly api: Profile.Api
  /** What pi-ai appends the path of the API to: with `/v1` for OpenAI's, without for Anthropic's. */
  readonly baseUrl: string
  /** The name the key is known by, in messages and for `layerConfig`: an environment variable, mostly. */
  readonly keyName?: string
  /** Sent with every request. Secrets belong into a `Redacted`. */
  readonly headers?: ChatCompletions.Headers
  /** Advisory: any other model id is passed on. */
  readonly models?: ReadonlyArray<ModelCatalog.CatalogEntry>
  /** In tokens, for models nothing is known of. Default 262 144. */
  readonly defaultContextWindow?: number
  /** Output ceiling in tokens where neither call nor catalog names one. Default 32 768. */
  readonly maxTokens?: number
  /** The reasoning efforts that calls may ask for. Default: none, and nothing about reasoning is sent. */
  readonly efforts?: ReadonlyArray<Profile.Effort>
  /** Used where a call names none. Default: none is sent. */
  readonly reasoningEffort?: Profile.Effort
  /** What the provider calls an effort, where that differs. */
  readonly wireEfforts?: NonNullable<Profile.Profile["wireEfforts"]>
  /** What pi-ai cannot guess from the address. */
  readonly compat?: Profile.Compat
  /** How long the provider is asked to remember the beginning of a conversation. Default `short`. */
  readonly cacheRetention?: Profile.CacheRetention
  /** Whether an empty list of tools is sent where the history has calls: some gateways want it. Default `omit`. */
  readonly emptyTools?: "omit" | "send"
  /** Whether the provider is told which requests belong to one session, so that it can find what it remembers. Default false. */
  readonly sessionAffinity?: boolean
  /** When a failed request is tried again. Default: `RetryPolicy.normal`. */
  readonly retryPolicy?: RetryPolicy
}

export interface Options extends Settings {
  /** Runs once per request. Default: no key is sent. */
  readonly apiKey?: ApiKey.Key
}

/** The adapter. Its calls fail with `UNSUPPORTED_OPTION` or `UNSUPPORTED_REASONING_EFFORT` before anything is sent. */
export const make = (options: Options): Effect.Effect<LlmAdapter, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    const transport = yield* LibraryTransport.make
    const attachments = Option.getOrUndefined(yield* Effect.serviceOption(Attachments))
    const { api, models: catalog = [], provider } = options
    const name = options.name ?? provider
    const keyName = options.keyName ?? `the settings of ${name}`
    const defaultMaxTokens = options.maxTokens ?? 32_768
    const defaults: ModelCatalog.Defaults = {
      provider,
      contextWindow: options.defaultContextWindow ?? 262_144,
      maxTokens: defaultMaxTokens,
      ...(options.efforts !== undefined && {
        reasoning: {
          efforts: options.efforts,
          ...(options.reasoningEffort !== undefined && { defaultEffort: options.reasoningEffort })
        }
      })
    }
    const endpoint: ChatCompletions.Endpoint = {
      name,
      url: ChatCompletions.baseUrl(options.baseUrl),
      keyName,
      urlName: `the base URL of ${name}`
    }
    const limits = ChatCompletions.limits(options)
    const compat = Profile.compat(api, endpoint.url, options.compat)

    const key: Effect.Effect<LibraryTransport.Key, LlmError> = Effect.flatMap(
      options.apiKey ?? Effect.succeedNone,
      Option.match({
        onNone: () => Effect.succeed<LibraryTransport.Key>("none"),
        onSome: (apiKey) => ChatCompletions.usableKey(apiKey, keyName)
      })
    )

    const question = (request: LlmRequest): Effect.Effect<Answer.Question, LlmError> =>
      Effect.gen(function* () {
        const { header, messages, sessionId } = request
        const { maxTokens = defaultMaxTokens, model, reasoningEffort, temperature } = header.config
        const effort = Profile.efforts.find((known) => known === reasoningEffort)
        const profile = Profile.read(header.wire)
        const { cacheRetention = "short", compat, wireEfforts } = profile
        return {
          api,
          ask: yield* Library.load(api),
          facts: {
            id: model,
            name: model,
            provider: Conversation.provider,
            baseUrl: endpoint.url,
            reasoning: effort !== undefined,
            thinkingLevelMap: { xhigh: "xhigh", ...wireEfforts },
            input: profile.images === "send" ? ["text", "image"] : ["text"],
            cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
            contextWindow: defaults.contextWindow,
            maxTokens,
            compat
          },
          profile,
          conversation: Conversation.make(header, messages, {
            api,
            images: yield* ShownImages.of(request, attachments)
          }),
          options: {
            maxTokens,
            cacheRetention,
            ...(temperature !== undefined && { temperature }),
            ...(effort !== undefined && effort !== "off" && { reasoning: effort satisfies ThinkingLevel }),
            ...(options.sessionAffinity === true && sessionId !== undefined && { sessionId })
          },
          asked: ChatCompletions.asked(request, yield* Ids.IdSource),
          transport,
          exchange: {
            dialect: dialects[api],
            endpoint,
            key: yield* key,
            limits,
            ...(options.headers !== undefined && { headers: options.headers })
          }
        }
      })

    const prepare = (config: LlmCallConfig, purpose: Purpose): Effect.Effect<AdapterCall, LlmError> =>
      Effect.gen(function* () {
        // A title is worth no thought.
        const effort = config.reasoningEffort ?? (purpose === "session-title" ? undefined : options.reasoningEffort)
        yield* supported(name, options, config, effort)
        const model = ModelCatalog.resolve(catalog, config.model, defaults)
        const maxTokens = config.maxTokens ?? model.defaultMaxTokens ?? defaultMaxTokens
        return {
          config: { ...config, ...(effort !== undefined && { reasoningEffort: effort }), maxTokens },
          adapterDefaults: {
            ...(config.reasoningEffort === undefined && effort !== undefined && { reasoningEffort: true }),
            ...(config.maxTokens === undefined && { maxTokens: true })
          },
          wire: Profile.write({
            ...options,
            compat,
            ...(attachments !== undefined && ModelCatalog.images(model))
          }),
          model,
          stream: (request) => ChunkStream.fromSource(source(question(request)))
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
 * `MISSING_CREDENTIAL`; without a `keyName` no key is sent.
 */
export const layerConfig = (settings: Settings): Layer.Layer<never, LlmError, Llm | HttpClient.HttpClient> =>
  layerAdapter(
    settings.keyName === undefined
      ? make(settings)
      : Effect.flatMap(ApiKey.fromConfig(settings.keyName), (apiKey) => make({ ...settings, apiKey }))
  )

const dialects = {
  "openai-completions": "chat-completions",
  "openai-responses": "responses",
  "anthropic-messages": "messages"
} as const

const source = (question: Effect.Effect<Answer.Question, LlmError>): Effect.Effect<ChunkStream.Source> =>
  Effect.matchEffect(question, {
    onFailure: (error) =>
      Effect.succeed<ChunkStream.Source>({ pull: Effect.fail(Option.some(error)), close: Effect.void }),
    onSuccess: Answer.start
  })

const supported = (
  name: string,
  { api, efforts = [] }: Options,
  { stop, temperature }: LlmCallConfig,
  effort: string | undefined
): Effect.Effect<void, LlmError> => {
  const refused = (message: string) => Effect.fail(new LlmError({ code: "UNSUPPORTED_OPTION", message }))
  if (stop !== undefined && stop.length > 0)
    return refused(`${name} takes no stop sequences through pi-ai; leave them out, or use another adapter`)
  if (effort !== undefined && !efforts.some((known) => known === effort))
    return Effect.fail(
      new LlmError({
        code: "UNSUPPORTED_REASONING_EFFORT",
        message:
          `${name} does not offer the reasoning effort "${effort}"; ` +
          (efforts.length === 0 ? "leave it out" : `choose ${efforts.join(", ")}`)
      })
    )
  if (api === "anthropic-messages" && temperature !== undefined && effort !== undefined && effort !== "off")
    return refused(`${name} takes no temperature while its model reasons; leave one of the two out`)
  return Effect.void
}
