/**
 * Here-documents: where their text ends is found by bash line by line, before anything else is read, and parsers differ about it.
 */
import type { SyntaxNode } from "../ShellSyntax.ts"
import * as Expansion from "./Expansion.ts"

const delimiter = /^(?:\w+|'[^'\n]*'|"[^"\n$`\\]*"|\\\w+)$/

interface Parts {
  readonly start: SyntaxNode
  readonly body: SyntaxNode
  readonly end: SyntaxNode
  /** What else stands on the line that begins it. */
  readonly others: ReadonlyArray<SyntaxNode>
}

/** Undefined when something is missing. */
export const partsOf = ({ children }: SyntaxNode): Parts | undefined => {
  const find = (type: string) => children.find((child) => child.type === type)
  const [start, body, end] = [find("heredoc_start"), find("heredoc_body"), find("heredoc_end")]
  if (start === undefined || body === undefined || end === undefined) return undefined
  const others = children.filter((child) => child.start >= start.end && child !== body && child !== end)
  return { start, body, end, others }
}

const isVerbatim = (start: string): boolean => /['"\\]/.test(start)

/** What does not add up. `check` looks at what is embedded. */
export const problem = (
  text: string,
  node: SyntaxNode,
  check: (part: SyntaxNode) => string | undefined
): string | undefined => {
  const parts = partsOf(node)
  const unclear = `it is not clear where the here-document at ${JSON.stringify(text.slice(node.start, node.start + 20))} ends`
  if (parts === undefined || parts.body.broken || parts.end.broken) return unclear
  const { body, end, others, start } = parts
  const begin = text.slice(start.start, start.end)
  if (!delimiter.test(begin)) return unclear
  const first = text.indexOf("\n", start.end) + 1
  const last = endOf(text, first, begin.replaceAll(/['"\\]/g, ""), text.slice(node.start, start.start).includes("<<-"))
  if (first === 0 || last === undefined) return unclear
  if (end.start < last.start || end.end !== last.end || others.some((other) => other.end >= first)) return unclear
  return (
    line(text, start.end, others, first - 1, check) ??
    (isVerbatim(begin) ? undefined : embedded(text, body, first, last.start, check))
  )
}

/** The line that ends it. */
const endOf = (text: string, from: number, word: string, stripsTabs: boolean) => {
  for (let at = from; at <= text.length;) {
    const newline = text.indexOf("\n", at)
    const end = newline === -1 ? text.length : newline
    const written = text.slice(at, end)
    if ((stripsTabs ? written.replace(/^\t+/, "") : written) === word) return { start: at, end }
    at = end + 1
  }
  return undefined
}

type Check = (part: SyntaxNode) => string | undefined

const line = (text: string, from: number, others: ReadonlyArray<SyntaxNode>, to: number, check: Check) => {
  let at = from
  for (const other of others) {
    if (!/^[ \t]*$/.test(text.slice(at, other.start))) return `it is not clear what follows the here-document`
    const found = check(other)
    if (found !== undefined) return found
    at = other.end
  }
  return /^[ \t]*$/.test(text.slice(at, to)) ? undefined : "it is not clear what follows the here-document"
}

const embedded = (text: string, body: SyntaxNode, from: number, to: number, check: Check) => {
  let at = from
  for (const child of body.children) {
    if (child.type === "heredoc_content") continue
    if (Expansion.stands.test(text.slice(at, child.start))) return "something in a here-document may be expanded"
    const found = check(child)
    if (found !== undefined) return found
    at = child.end
  }
  return Expansion.stands.test(text.slice(at, to)) ? "something in a here-document may be expanded" : undefined
}
