/**
 * The blocks of an answer: what the searches returned, and what the model says of it.
 */
import * as Lenient from "@dsh/llm/Lenient"
import * as Effect from "effect/Effect"
import * as Answer from "../Answer.ts"
import type { SearchResult } from "../Web.ts"
import { WebError } from "../WebError.ts"

export const read = (answer: Lenient.Raw): Effect.Effect<SearchResult, WebError> => {
  const blocks = Answer.records(answer["content"])
  const results = blocks.filter(({ type }) => type === "web_search_tool_result").map(({ content }) => content)
  // A search that failed has an object in the place of its list.
  const lists = results.filter((content) => Array.isArray(content))
  if (lists.length === 0) {
    const code = results.flatMap((content) => Lenient.text(Lenient.record(content)["error_code"]) ?? [])[0]
    return new WebError({
      code: "WEB_PROVIDER_ERROR",
      message:
        code === undefined
          ? "DeepSeek answered without a search, so its answer was dropped; try again, or use another provider"
          : `the search of DeepSeek failed (${Lenient.excerpt(code, 100)}); try again later, or use another provider`
    })
  }
  const texts = blocks.filter(({ type }) => type === "text")
  const content = texts
    .flatMap(({ text }) => Lenient.text(text) ?? [])
    .join("")
    .trim()
  const quotes = quotesOf(texts)
  const sources = lists
    .flatMap(Answer.records)
    .filter(({ type }) => type === "web_search_result")
    .flatMap(({ page_age: publishedAt, title, url }) =>
      Answer.source({ url, title, snippet: quotes.get(Answer.pageUrl(url) ?? ""), publishedAt })
    )
  return Effect.succeed({ ...(content !== "" && { content }), sources, truncated: false })
}

/** The first passage of each page that the answer quotes: what the search returns of the pages is encrypted. */
const quotesOf = (texts: ReadonlyArray<Lenient.Raw>): ReadonlyMap<string, string> => {
  const quotes = new Map<string, string>()
  for (const citation of texts.flatMap(({ citations }) => Answer.records(citations))) {
    const page = Answer.pageUrl(citation["url"])
    const text = Lenient.text(citation["cited_text"])
    if (page !== undefined && text !== undefined && !quotes.has(page)) quotes.set(page, text)
  }
  return quotes
}
