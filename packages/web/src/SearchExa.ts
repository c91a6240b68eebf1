/**
 * Web search by Exa (https://docs.exa.ai): pages with the passages of them that fit the query.
 */
import * as Lenient from "@dsh/llm/Lenient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Answer from "./Answer.ts"
import * as SearchHttp from "./SearchHttp.ts"
import * as SearchKey from "./SearchKey.ts"
import * as Web from "./Web.ts"
import type { WebError } from "./WebError.ts"

export const id = "exa"
export const keyName = "EXA_API_KEY"

export interface Options {
  /** Default: `EXA_API_KEY`. */
  readonly apiKey?: SearchKey.Lookup
  /** Default `https://api.exa.ai`. */
  readonly baseUrl?: string
  /** Default `auto`. */
  readonly searchType?: "auto" | "keyword" | "neural"
  /** Asked for where a request names no number. Default 10. */
  readonly numResults?: number
  /** Passages of a page. Default 1. */
  readonly highlightsPerResult?: number
  /** Default 30 seconds. */
  readonly timeout?: Duration.DurationInput
}

export const make = (options: Options = {}): Effect.Effect<Web.SearchProvider, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const { baseUrl = "https://api.exa.ai", highlightsPerResult = 1, numResults = 10, searchType = "auto" } = options
    const client = SearchHttp.quiet(yield* HttpClient.HttpClient)
    const key = SearchKey.make(options.apiKey ?? (yield* SearchKey.standing(keyName)), keyName)
    return {
      id,
      available: key.available,
      search: ({ maxResults, query }) =>
        Effect.gen(function* () {
          const secret = yield* key.get
          const request = HttpClientRequest.post(`${baseUrl.replace(/\/+$/, "")}/search`, {
            headers: { "x-api-key": Redacted.value(secret) },
            acceptJson: true
          }).pipe(
            HttpClientRequest.bodyUnsafeJson({
              query,
              type: searchType,
              numResults: maxResults ?? numResults,
              contents: { highlights: { highlightsPerUrl: highlightsPerResult } }
            })
          )
          const answer = yield* SearchHttp.ask(request, { name: "Exa", client, secret, timeout: options.timeout })
          return { sources: sourcesOf(answer), truncated: false }
        })
    }
  })

export const layer = (options?: Options): Layer.Layer<never, WebError, Web.Web | HttpClient.HttpClient> =>
  Web.layerSearch(make(options))

/** What has no passage says nothing. */
const sourcesOf = (answer: unknown): ReadonlyArray<Web.Source> =>
  Answer.records(Lenient.record(answer)["results"]).flatMap(({ highlights, publishedDate, title, url }) => {
    const passages = Answer.list(highlights).flatMap((text) => Lenient.text(text) ?? [])
    const publishedAt = Lenient.text(publishedDate)?.slice(0, 10)
    return passages.length === 0 ? [] : Answer.source({ url, title, snippet: passages.join(" … "), publishedAt })
  })
