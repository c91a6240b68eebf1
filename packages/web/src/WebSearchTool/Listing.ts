/**
 * Search results as the model reads them.
 */
import * as Text from "@dsh/kernel/Text"
import type { Source } from "../Web.ts"
import type { Merged } from "./Merge.ts"

const maxAnswer = 20_000
const maxTitle = 200
const maxSnippet = 1000

/** Strangers wrote it: it stays on its line and in its brackets. */
const line = (text: string, maxLength: number): string =>
  Text.ellipsis(text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim(), maxLength)

const entry = ({ publishedAt, snippet, title, url }: Source): string => {
  const name = line(title ?? "", maxTitle).replaceAll(/[[\]\\]/g, String.raw`\$&`)
  const target = url.replaceAll("(", "%28").replaceAll(")", "%29")
  const date = publishedAt === undefined ? "" : ` (${line(publishedAt, 40)})`
  const text = line(snippet ?? "", maxSnippet)
  return `- [${name === "" ? target : name}](${target})${date}${text === "" ? "" : `\n  ${text}`}`
}

export const render = ({ content, sources, truncated }: Merged): string => {
  const parts: Array<string> = []
  if (content !== undefined) parts.push(Text.ellipsis(content, maxAnswer))
  if (sources.length > 0) {
    parts.push(`Sources:\n${sources.map(entry).join("\n")}`)
    if (truncated) parts.push(`(showing the first ${sources.length}; ask for something more particular to see others)`)
    parts.push("Cite the sources you use, as Markdown links.")
  }
  return parts.length === 0 ? "No results found." : parts.join("\n\n")
}
