/**
 * Search in Wikipedia, which needs no key (https://www.mediawiki.org/wiki/API:Search). It knows one site, so it is used only where no
 * other provider can be, and says so.
 */
import * as Lenient from "@dsh/llm/Lenient"
import { UserAgent } from "@dsh/llm/UserAgent"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Answer from "./Answer.ts"
import * as SearchHttp from "./SearchHttp.ts"
import * as Web from "./Web.ts"
import { WebError } from "./WebError.ts"

export const id = "wikipedia"

export interface Options {
  /** Default `https://en.wikipedia.org`; other languages are other hosts. */
  readonly baseUrl?: string
  /** Asked for where a request names no number. Default 10. */
  readonly numResults?: number
  /** Default 30 seconds. */
  readonly timeout?: Duration.DurationInput
}

const note =
  "These results are from Wikipedia alone, because no search provider has a key. What is not in an encyclopedia is not found this way."

export const make = (options: Options = {}): Effect.Effect<Web.SearchProvider, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const { numResults = 10, timeout } = options
    const baseUrl = (options.baseUrl ?? "https://en.wikipedia.org").replace(/\/+$/, "")
    const client = SearchHttp.quiet(yield* HttpClient.HttpClient)
    const userAgent = yield* UserAgent
    return {
      id,
      available: Effect.succeed(true),
      isLastResort: true,
      search: ({ maxResults, query }) =>
        Effect.gen(function* () {
          const request = HttpClientRequest.get(`${baseUrl}/w/api.php`, {
            // Wikimedia wants to know who asks.
            headers: { "user-agent": `${userAgent} (coding agent; web search)` },
            urlParams: {
              action: "query",
              list: "search",
              format: "json",
              formatversion: "2",
              srlimit: String(maxResults ?? numResults),
              srsearch: query
            }
          })
          const answer = Lenient.record(yield* SearchHttp.ask(request, { name: "Wikipedia", client, timeout }))
          const { info } = Lenient.record(answer["error"])
          if (info !== undefined) return yield* refused(Lenient.text(info) ?? "no reason")
          const sources = Answer.records(Lenient.record(answer["query"])["search"]).flatMap(sourceOf(baseUrl))
          return { content: note, sources, truncated: answer["continue"] !== undefined }
        })
    }
  })

export const layer = (options?: Options): Layer.Layer<never, WebError, Web.Web | HttpClient.HttpClient> =>
  Web.layerSearch(make(options))

const refused = (why: string) =>
  new WebError({
    code: "WEB_PROVIDER_ERROR",
    message: `Wikipedia refuses the search (${Lenient.excerpt(why, 200)}); write the query in other words`
  })

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#039": "'", nbsp: " " }

/** A snippet is HTML with the words marked that were found. One that is longer is none. */
const plain = (html: string): string =>
  html
    .slice(0, 5000)
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/&([\w#]{2,4});/g, (whole, name: string) => entities[name] ?? whole)

const sourceOf =
  (baseUrl: string) =>
  ({ snippet, title }: Lenient.Raw): ReadonlyArray<Web.Source> => {
    const name = Lenient.text(title)
    if (name === undefined) return []
    const url = `${baseUrl}/wiki/${encodeURIComponent(name.replaceAll(" ", "_"))}`
    return Answer.source({ url, title: `${name} - Wikipedia`, snippet: plain(Lenient.text(snippet) ?? "") })
  }
