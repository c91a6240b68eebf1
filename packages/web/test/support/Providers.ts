/**
 * Search providers against a server that answers as it is told.
 */
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import type * as HttpClient from "@effect/platform/HttpClient"
import { Effect, Redacted } from "effect"
import type * as Http from "node:http"
import * as SearchDeepSeek from "../../src/SearchDeepSeek.ts"
import * as SearchExa from "../../src/SearchExa.ts"
import * as SearchPerplexity from "../../src/SearchPerplexity.ts"
import * as SearchWikipedia from "../../src/SearchWikipedia.ts"
import type { SearchProvider } from "../../src/Web.ts"
import { server } from "./Servers.ts"

export const secret = "sk-very-secret"
const apiKey = Effect.succeed(Redacted.make(secret))

type Make = (baseUrl: string, timeout?: "100 millis") => Effect.Effect<SearchProvider, never, HttpClient.HttpClient>

export const makers: Readonly<Record<string, Make>> = {
  exa: (baseUrl, timeout) => SearchExa.make({ apiKey, baseUrl, ...(timeout !== undefined && { timeout }) }),
  perplexity: (baseUrl, timeout) =>
    SearchPerplexity.make({ apiKey, baseUrl, ...(timeout !== undefined && { timeout }) }),
  "deepseek-official": (baseUrl, timeout) =>
    SearchDeepSeek.make({ apiKey, baseUrl, ...(timeout !== undefined && { timeout }) }),
  wikipedia: (baseUrl, timeout) => SearchWikipedia.make({ baseUrl, ...(timeout !== undefined && { timeout }) })
}

export interface Seen {
  readonly method: string | undefined
  readonly url: URL
  readonly headers: Http.IncomingHttpHeaders
  readonly body: unknown
}

/** A provider that answers, and what it was asked. */
export const provider = (answer: (response: Http.ServerResponse) => void) =>
  Effect.gen(function* () {
    const seen: Array<Seen> = []
    const listening = yield* server((request, response) => {
      let body = ""
      request.setEncoding("utf8").on("data", (text: string) => (body += text))
      request.on("end", () => {
        const { headers, method, url } = request
        seen.push({
          method,
          url: new URL(url ?? "", "http://x"),
          headers,
          body: body === "" ? undefined : JSON.parse(body)
        })
        answer(response)
      })
    })
    return { ...listening, seen }
  })

export const json =
  (value: unknown, status = 200) =>
  (response: Http.ServerResponse): void =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))

export const search = (id: string, baseUrl: string, timeout?: "100 millis") =>
  Effect.flatMap(makers[id]!(baseUrl, timeout), (made) => made.search({ query: "what is new?", maxResults: 5 }))

export const live = Effect.provide(HttpClientNode.layerWith({ proxy: false }))
