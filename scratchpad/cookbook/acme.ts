/**
 * A provider of our own. ACME speaks chat completions, as most do, so the wire code is there; what is ACME's is here: its route, its
 * models, where it is, and what it cannot do.
 */
import * as ChatCompletions from "@dsh/llm/ChatCompletions"
import { layerAdapter } from "@dsh/llm/Llm"
import type { LlmAdapter } from "@dsh/llm/LlmAdapter"
import { LlmError } from "@dsh/llm/LlmError"
import * as ModelCatalog from "@dsh/llm/ModelCatalog"
import { UserAgent } from "@dsh/llm/UserAgent"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"

const provider = "acme"
const keyName = "ACME_API_KEY"
const catalog = [{ id: "acme-1", name: "ACME One", contextWindow: 200_000 }]
const defaults = { provider, contextWindow: 128_000 }

export interface Options extends ChatCompletions.Timeouts {
  readonly url: string
  /** Runs once per request, so a rotated key holds from the next one on. */
  readonly apiKey: Effect.Effect<Redacted.Redacted, LlmError>
}

export const make = (options: Options): Effect.Effect<LlmAdapter, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    const client = ChatCompletions.quiet(yield* HttpClient.HttpClient)
    const lifetime = yield* ChatCompletions.lifetime
    const headers = { "user-agent": yield* UserAgent }
    const url = ChatCompletions.baseUrl(options.url)
    const apiKey = Effect.flatMap(options.apiKey, (key) => ChatCompletions.usableKey(key, keyName))
    const connection = Effect.map(apiKey, (apiKey) => ({
      client,
      lifetime,
      limits: ChatCompletions.limits(options),
      apiKey,
      headers,
      endpoint: { name: "ACME", url, keyName, urlName: "the address of ACME" }
    }))
    return {
      providers: [{ id: provider, name: "ACME" }],
      formats: [ChatCompletions.format],
      models: () => Effect.succeed(catalog.map((entry) => ModelCatalog.describe(entry, defaults))),
      prepare: (config) =>
        config.reasoningEffort === undefined
          ? Effect.succeed({
              config,
              wire: ChatCompletions.profile({}),
              model: ModelCatalog.resolve(catalog, config.model, defaults),
              stream: (request) => ChatCompletions.stream(connection, request)
            })
          : new LlmError({ code: "UNSUPPORTED_OPTION", message: "ACME has no reasoning efforts; leave it out" })
    }
  })

const missing = new LlmError({ code: "MISSING_CREDENTIAL", message: `${keyName} is not set; export it` })

/** Serves the route `acme` with the key that `ACME_API_KEY` has. */
export const layer = layerAdapter(
  make({ url: "https://api.acme.example/v1", apiKey: Effect.mapError(Config.redacted(keyName), () => missing) })
)
