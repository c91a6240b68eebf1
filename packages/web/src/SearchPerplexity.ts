/**
 * Web search by Perplexity (https://docs.perplexity.ai): an answer in prose, and the pages that it rests on. A search is a model call.
 */
import * as Lenient from "@dsh/llm/Lenient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Answer from "./Answer.ts"
import * as SearchHttp from "./SearchHttp.ts"
import * as SearchKey from "./SearchKey.ts"
import * as Web from "./Web.ts"
import { WebError } from "./WebError.ts"

export const id = "perplexity"
export const keyName = "PERPLEXITY_API_KEY"

export interface Options {
  /** Default: `PERPLEXITY_API_KEY`. */
  readonly apiKey?: SearchKey.Lookup
  /** Default `https://api.perplexity.ai`. */
  readonly baseUrl?: string
  /** Default `sonar`. */
  readonly model?: string
  /** Of the answer. Default 1024. */
  readonly maxTokens?: number
  /** Only pages that are no older. */
  readonly searchRecency?: "hour" | "day" | "week" | "month" | "year"
  /** Default 50 seconds. */
  readonly timeout?: Duration.DurationInput
}

export const make = (options: Options = {}): Effect.Effect<Web.SearchProvider, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const { baseUrl = "https://api.perplexity.ai", maxTokens = 1024, model = "sonar", searchRecency } = options
    const client = SearchHttp.quiet(yield* HttpClient.HttpClient)
    const key = SearchKey.make(options.apiKey ?? (yield* SearchKey.standing(keyName)), keyName)
    return {
      id,
      available: key.available,
      search: ({ query }) =>
        Effect.gen(function* () {
          const secret = yield* key.get
          const request = HttpClientRequest.post(`${baseUrl.replace(/\/+$/, "")}/chat/completions`, {
            acceptJson: true
          }).pipe(
            HttpClientRequest.bearerToken(secret),
            HttpClientRequest.bodyUnsafeJson({
              model,
              max_tokens: maxTokens,
              ...(searchRecency !== undefined && { search_recency_filter: searchRecency }),
              messages: [{ role: "user", content: query }]
            })
          )
          const { timeout = "50 seconds" } = options
          const answer = yield* SearchHttp.ask(request, { name: "Perplexity", client, secret, timeout })
          return yield* resultOf(Lenient.record(answer))
        })
    }
  })

export const layer = (options?: Options): Layer.Layer<never, WebError, Web.Web | HttpClient.HttpClient> =>
  Web.layerSearch(make(options))

const resultOf = (answer: Lenient.Raw): Effect.Effect<Web.SearchResult, WebError> => {
  const [choice] = Answer.records(answer["choices"])
  const content = Lenient.text(Lenient.record(choice?.["message"])["content"])
  const sources = sourcesOf(answer)
  if (content === undefined && sources.length === 0) {
    return new WebError({
      code: "WEB_PROVIDER_ERROR",
      message: "Perplexity answered with neither an answer nor sources; try again, or use another provider"
    })
  }
  return Effect.succeed({ ...(content !== undefined && { content }), sources, truncated: false })
}

/** Older versions of the API name addresses only. */
const sourcesOf = (answer: Lenient.Raw): ReadonlyArray<Web.Source> => {
  const found = Answer.records(answer["search_results"])
  return found.length === 0
    ? Answer.list(answer["citations"]).flatMap((url) => Answer.source({ url }))
    : found.flatMap(({ date, snippet, title, url }) => Answer.source({ url, title, snippet, publishedAt: date }))
}
