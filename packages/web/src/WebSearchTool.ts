/**
 * The `web_search` tool: up to a few queries at once, their results as one list.
 */
import * as GuidedTool from "@dsh/prompt/GuidedTool"
import type { PromptError, SystemPrompt } from "@dsh/prompt/SystemPrompt"
import * as Tool from "@dsh/tools/Tool"
import type { ToolRegistrationError, Tools } from "@dsh/tools/Tools"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Web } from "./Web.ts"
import * as Listing from "./WebSearchTool/Listing.ts"
import { merge } from "./WebSearchTool/Merge.ts"
import * as WebTool from "./WebTool.ts"

export interface Options {
  /** Sources that are shown. Default 8. */
  readonly maxResults?: number
  /** Default 4. */
  readonly maxQueries?: number
  /** Default 60 seconds: some providers ask a model. */
  readonly timeout?: Duration.DurationInput
  /** Whether there is `web_fetch` to read what was found. Default true. */
  readonly fetch?: boolean
}

const optional = { exact: true } as const

const Value = Schema.Struct({
  content: Schema.optionalWith(Schema.String, optional),
  sources: Schema.Array(
    Schema.Struct({
      url: Schema.String,
      title: Schema.optionalWith(Schema.String, optional),
      snippet: Schema.optionalWith(Schema.String, optional),
      publishedAt: Schema.optionalWith(Schema.String, optional)
    })
  ),
  truncated: Schema.Boolean
})

const Query = Schema.String.pipe(Schema.pattern(/\S/, { message: () => "must not be blank" }))

const parameters = (maxQueries: number) =>
  Schema.Struct({
    queries: Schema.Array(Query)
      .pipe(
        Schema.minItems(1, { message: () => "must hold a query" }),
        Schema.maxItems(maxQueries, { message: () => `must hold ${maxQueries} queries at most` })
      )
      .annotations({
        description: `What to search for, 1 to ${maxQueries} queries; several are for different things, not for other words of the same.`
      })
  })

export const make = (options: Options = {}): Tool.Tool<Web> => {
  const { maxQueries = 4, maxResults = 8, timeout = "60 seconds" } = options
  return Tool.make({
    name: "web_search",
    description:
      "Searches the web. The result is a list of pages, with an answer in front of it if the search provider gives one.",
    parameters: parameters(maxQueries),
    output: Value,
    parallelSafe: true,
    timeout,
    execute: ({ queries }) =>
      Effect.gen(function* () {
        yield* WebTool.connected
        const web = yield* Web
        const found = yield* Effect.forEach(
          [...new Set(queries.map((query) => query.trim()))],
          (query) => Effect.map(web.search({ query, maxResults }), (result) => ({ query, result })),
          { concurrency: "unbounded" }
        ).pipe(Effect.mapError(WebTool.toolError))
        const { content, sources, truncated } = merge(found, maxResults)
        return { ...(content !== undefined && { content }), sources, truncated }
      }),
    render: (_, { content, sources, truncated }) => Listing.render({ content, sources, truncated }),
    present: {
      call: ({ queries }) => ({ view: "generic", title: `Search the web for ${queries.join(", ")}`, kind: "search" }),
      result: () => ({ view: "generic" })
    }
  })
}

const section = ({ fetch = true }: Options) => ({
  name: "web_search",
  order: 110,
  text: `Use web_search for what changes or what you are not sure of: current versions, prices, news, error messages.${
    fetch ? " Then read the pages that matter with web_fetch: a snippet is not the page." : ""
  }`
})

type ToolLayer = Layer.Layer<never, ToolRegistrationError | PromptError, Tools | SystemPrompt | Web>

/** With other limits than the usual ones. */
export const layerWith = (options: Options): ToolLayer => GuidedTool.layer(make(options), section(options))

export const layer: ToolLayer = layerWith({})
