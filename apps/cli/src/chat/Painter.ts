/**
 * Items of the view as lines of a width.
 */
import type { Tools } from "@dsh/tools/Tools"
import { Markdown, truncateToWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui"
import * as Card from "./Card.ts"
import * as Safe from "./Safe.ts"
import type { Theme } from "./Theme.ts"
import type { Command, Item, Prose, ToolCall } from "./View.ts"

export interface Options {
  readonly theme: Theme
  readonly tools: Tools["Type"] | undefined
  /** Whether thoughts are shown. */
  reasoning: boolean
  /** Whether all of a card is shown, and what the model is told beside what people write. */
  details: boolean
}

export type Lines = ReadonlyArray<string>

const wrap = (text: string, width: number): Lines =>
  text
    .split("\n")
    .flatMap((line) => (line === "" ? [""] : wrapTextWithAnsi(line.replaceAll("\t", "    "), Math.max(1, width))))

const indented = (lines: Lines, indent: string): Lines => lines.map((line) => (line === "" ? "" : indent + line))

/** Marked with a sign in front, all of it. */
const behind = (sign: string, text: string, width: number, paint: (text: string) => string): Lines =>
  wrap(text, width - 2).map((line, i) => paint(`${i === 0 ? sign : " "} ${line}`))

export const markdown = (text: string, width: number, { theme }: Options): Lines => {
  const lines = new Markdown(text, 0, 0, theme.markdown).render(width).map((line) => line.trimEnd())
  const isBlank = (line: string) => Safe.painted(line, false).trim() === ""
  let [start, end] = [0, lines.length]
  while (start < end && isBlank(lines[start]!)) start++
  while (end > start && isBlank(lines[end - 1]!)) end--
  return lines.slice(start, end)
}

const reasoning = (item: Prose, width: number, { reasoning: isOpen, theme }: Options): Lines => {
  const text = item.text.trim()
  if (text === "") return []
  const lines = wrap(text, width - 2)
  if (isOpen) return indented(lines, "  ").map(theme.dim)
  if (!item.isDone) return indented(lines.slice(-2), "  ").map(theme.dim)
  const size = text.split("\n").length
  const label = `thought ${size === 1 ? "1 line" : `${size} lines`} (Ctrl+T): `
  return [theme.dim(truncateToWidth(label + Safe.oneLine(text), width, "…"))]
}

const tool = (call: ToolCall, width: number, { details, theme, tools }: Options): Lines => {
  const { lines, title } = Card.of(call, { tools, theme, most: details ? 400 : 12 })
  const sign = call.result === undefined ? theme.warning("○") : call.result.isError ? theme.bad("✗") : theme.good("●")
  const head = wrap(title, width - 2)
  const shownHead = Card.bounded(head, details ? 200 : 6, theme.dim)
  const fit = (line: string): Lines =>
    details ? wrap(line, width - 4) : [truncateToWidth(line.replaceAll("\t", "    "), Math.max(1, width - 4), "…")]
  return [
    ...shownHead.map((line, i) => (i === 0 ? `${sign} ${theme.bold(line)}` : `  ${theme.bold(line)}`)),
    ...indented(lines.flatMap(fit), "    ")
  ]
}

const command = ({ line, result }: Command, width: number, { theme }: Options): Lines => {
  const given = behind(">", line, width, theme.accent)
  if (result === undefined) return given
  // Who left, or went elsewhere, has seen that.
  if (result.text === "") return result.kind === "success" ? [] : given
  return [
    ...given,
    ...indented(wrap(result.text, width - 2), "  ").map(result.kind === "error" ? theme.bad : theme.dim)
  ]
}

/** Changes when the item does. */
const version = (item: Item): string => {
  if (item.kind === "answer" || item.kind === "reasoning") return `${item.text.length} ${item.isDone}`
  return "result" in item ? `${item.result !== undefined}` : ""
}

const painted = new WeakMap<Item, { readonly as: string; readonly lines: Lines }>()

/** Nothing for what is not to be seen. */
export const paint = (item: Item, width: number, options: Options): Lines => {
  const as = `${width} ${options.reasoning} ${options.details} ${version(item)}`
  const known = painted.get(item)
  if (known?.as === as) return known.lines
  const lines = anew(item, width, options)
  painted.set(item, { as, lines })
  return lines
}

const anew = (item: Item, width: number, options: Options): Lines => {
  const { details, theme } = options
  switch (item.kind) {
    case "head":
      return wrap(item.text, width).map((line, i) => (i === 0 ? theme.bold : theme.dim)(line))
    case "user":
      return behind(">", item.text, width, theme.accent)
    case "context":
      return details ? behind("·", item.text, width, theme.dim) : []
    case "notice":
      return behind("!", item.text, width, theme.warning)
    case "failure":
      return behind("✗", item.text, width, theme.bad)
    case "answer":
      return markdown(item.text, width, options)
    case "reasoning":
      return reasoning(item, width, options)
    case "tool":
      return tool(item, width, options)
    case "command":
      return command(item, width, options)
  }
}
