/**
 * The results of several queries as one.
 */
import type { SearchResult, Source } from "../Web.ts"

export interface Merged {
  /** Undefined where no provider gave one. */
  readonly content: string | undefined
  readonly sources: ReadonlyArray<Source>
  readonly truncated: boolean
}

export interface Found {
  readonly query: string
  readonly result: SearchResult
}

/** The best of each query first, then the second best; each page once. */
export const merge = (found: ReadonlyArray<Found>, maxResults: number): Merged => {
  const sources = new Map<string, Source>()
  const ranks = Math.max(0, ...found.map(({ result }) => result.sources.length))
  for (let rank = 0; rank < ranks; rank++) {
    for (const { result } of found) {
      const source = result.sources[rank]
      if (source !== undefined && !sources.has(source.url)) sources.set(source.url, source)
    }
  }
  const answers = found.flatMap(({ query, result }) => {
    const content = result.content?.trim() ?? ""
    return content === "" ? [] : [found.length === 1 ? content : `## ${query}\n\n${content}`]
  })
  return {
    content: answers.length === 0 ? undefined : answers.join("\n\n"),
    sources: [...sources.values()].slice(0, maxResults),
    truncated: sources.size > maxResults || found.some(({ result }) => result.truncated)
  }
}
