/**
 * A tool call and what came of it as a card: a title, and lines below it.
 */
import * as Text from "@dsh/kernel/Text"
import type { CallView, FileDiff, ResultView } from "@dsh/tools/Presentation"
import type { Tools } from "@dsh/tools/Tools"
import { structuredPatch } from "diff"
import * as Safe from "./Safe.ts"
import type { Theme } from "./Theme.ts"
import type { ToolCall } from "./View.ts"

export interface Card {
  readonly title: string
  readonly lines: ReadonlyArray<string>
}

export interface Options {
  readonly tools: Tools["Type"] | undefined
  readonly theme: Theme
  /** Lines of a body at most. */
  readonly most: number
}

/** A diff of more than this is told by its size: comparing takes time that grows with the product of both. */
const comparable = 200_000

const parse = (raw: string) => {
  try {
    return JSON.parse(raw)
  } catch {
    return raw
  }
}

/** The beginning says what it is about, the end has the verdict. */
export const bounded = (lines: ReadonlyArray<string>, most: number, dim: (text: string) => string) => {
  if (lines.length <= most) return lines
  const tail = Math.floor(most / 2)
  const head = most - tail
  return [...lines.slice(0, head), dim(`… ${lines.length - most} more lines`), ...lines.slice(lines.length - tail)]
}

const diff = ({ newText, oldText }: FileDiff, { theme }: Options): ReadonlyArray<string> => {
  if ((oldText?.length ?? 0) + newText.length > comparable) return [theme.dim("too large to compare here")]
  const { hunks } = structuredPatch("", "", Safe.text(oldText ?? ""), Safe.text(newText), "", "", { context: 2 })
  return hunks.flatMap(({ lines, newStart, oldStart }) => {
    let [before, after] = [oldStart, newStart]
    return lines.flatMap((line) => {
      const text = line.slice(1)
      if (line.startsWith("\\")) return []
      if (line.startsWith("-")) return [theme.bad(`${String(before++).padStart(4)} - ${text}`)]
      if (line.startsWith("+")) return [theme.good(`${String(after++).padStart(4)} + ${text}`)]
      before++
      return [theme.dim(`${String(after++).padStart(4)}   ${text}`)]
    })
  })
}

const title = (call: ToolCall, view: CallView | undefined): string => {
  if (view === undefined) return Text.ellipsis(`${call.name} ${Safe.oneLine(call.arguments)}`, 400)
  return view.view === "terminal" ? `$ ${Safe.text(view.title)}` : Safe.oneLine(view.title)
}

const linesOf = (text: string): ReadonlyArray<string> => (text.trim() === "" ? [] : text.trimEnd().split("\n"))

const body = (call: ToolCall, view: ResultView | undefined, options: Options): ReadonlyArray<string> => {
  const { result } = call
  if (result === undefined) return []
  const { theme } = options
  if (result.isError) return linesOf(result.text).map(theme.bad)
  if (view === undefined || view.view === "generic") return linesOf(result.text).map(theme.dim)
  switch (view.view) {
    case "terminal":
      return linesOf(Safe.text(view.output)).map(theme.dim)
    case "read":
      return [theme.dim(`${view.lines} of ${view.totalLines} lines`)]
    case "search":
      return [theme.dim(`${view.total} found${view.truncated ? ", not all shown" : ""}`)]
    case "diff":
      return view.diffs.flatMap((each) => diff(each, options))
  }
}

/** What is asked for, before it is done. */
export const ofCall = (call: ToolCall, options: Options): Card => {
  const view = options.tools?.get(call.name)?.presentCall(parse(call.arguments))
  const lines = view?.view === "diff" ? view.diffs.flatMap((each) => diff(each, options)) : []
  return { title: title(call, view), lines: bounded(lines, options.most, options.theme.dim) }
}

export const of = (call: ToolCall, options: Options): Card => {
  const asked = ofCall(call, options)
  const { result } = call
  if (result === undefined) return asked
  const view = options.tools?.get(call.name)?.presentResult(result)
  // A change that was made is shown as it was made; one that failed, as it was meant.
  if (view?.view === "diff" && view.diffs.length === 0) return asked
  const lines = bounded(body(call, view, options), options.most, options.theme.dim)
  const isChange = asked.lines.length > 0 && view?.view !== "diff"
  return { title: asked.title, lines: isChange ? [...asked.lines, ...(result.isError ? lines : [])] : lines }
}
