/**
 * Web search by DeepSeek: a model call in the Anthropic format whose model searches on the server. A search costs as much as any call.
 *
 * Only what the search itself returned counts as a source. A model that answers without having searched is an error, whatever it says.
 */
import * as Lenient from "@dsh/llm/Lenient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Config from "effect/Config"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Found from "./SearchDeepSeek/Found.ts"
import * as SearchHttp from "./SearchHttp.ts"
import * as SearchKey from "./SearchKey.ts"
import * as Web from "./Web.ts"
import type { WebError } from "./WebError.ts"

export const id = "deepseek-official"
export const keyName = "DEEPSEEK_API_KEY"
export const urlName = "DEEPSEEK_SEARCH_BASE_URL"

const officialUrl = "https://api.deepseek.com/anthropic/v1"

export interface Options {
  /** Default: `DEEPSEEK_API_KEY`. */
  readonly apiKey?: SearchKey.Lookup
  /** Default: `DEEPSEEK_SEARCH_BASE_URL`, and if that is not set `https://api.deepseek.com/anthropic/v1`. */
  readonly baseUrl?: string
  /** Default `deepseek-v4-flash`. */
  readonly model?: string
  /** Of the answer. Default 4096. */
  readonly maxTokens?: number
  /** Searches that the model may make for one query. Default 5. */
  readonly maxUses?: number
  /** Default 55 seconds. */
  readonly timeout?: Duration.DurationInput
}

export const make = (options: Options = {}): Effect.Effect<Web.SearchProvider, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const { maxTokens = 4096, maxUses = 5, model = "deepseek-v4-flash", timeout = "55 seconds" } = options
    const baseUrl = options.baseUrl ?? (yield* configured)
    const client = SearchHttp.quiet(yield* HttpClient.HttpClient)
    const key = SearchKey.make(options.apiKey ?? (yield* SearchKey.standing(keyName)), keyName)
    return {
      id,
      available: key.available,
      search: ({ query }) =>
        Effect.gen(function* () {
          const secret = yield* key.get
          const request = HttpClientRequest.post(`${baseUrl.replace(/\/+$/, "")}/messages`, {
            headers: { "x-api-key": Redacted.value(secret), "anthropic-version": "2023-06-01" },
            acceptJson: true
          }).pipe(
            HttpClientRequest.bodyUnsafeJson({
              model,
              max_tokens: maxTokens,
              tools: [{ type: "web_search_20250305", name: "web_search", max_uses: maxUses }],
              messages: [
                { role: "user", content: `Search the web for the following, and answer from what you find: ${query}` }
              ]
            })
          )
          const answer = yield* SearchHttp.ask(request, { name: "DeepSeek", client, secret, timeout })
          return yield* Found.read(Lenient.record(answer))
        })
    }
  })

export const layer = (options?: Options): Layer.Layer<never, WebError, Web.Web | HttpClient.HttpClient> =>
  Web.layerSearch(make(options))

const configured = Config.string(urlName).pipe(
  Config.withDefault(""),
  Config.map((url) => (url.trim() === "" ? officialUrl : url.trim())),
  Effect.orDie // a text cannot be a wrong one
)
