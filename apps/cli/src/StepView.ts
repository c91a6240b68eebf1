/**
 * Tool calls and their results as short lines for people who watch, from what is logged of them.
 */
import * as Text from "@dsh/kernel/Text"
import { textOf } from "@dsh/protocol/Block"
import { isRun } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { CallView, FileDiff, ResultView } from "@dsh/tools/Presentation"
import type { Tools } from "@dsh/tools/Tools"

const maxLines = 12
const maxUnits = 400

/** An observer that hands each line to `say`. */
export const observer = (tools: Tools["Type"], say: (line: string) => void): ((entry: LogEntry) => void) => {
  const names = new Map<string, string>()
  return (entry) => {
    if (isRun(entry)) return
    if (entry.type === "tool/call") {
      const { arguments: raw, callId, name } = entry.data
      names.set(callId, name)
      for (const line of call(name, raw, tools.get(name)?.presentCall(parse(raw)))) say(line)
    } else if (entry.type === "tool/result") {
      const { message, meta } = entry.data
      const [block] = message.content
      const text = textOf(block.content)
      const isError = block.isError === true
      const tool = tools.get(names.get(message.source.callId) ?? "")
      const view = tool?.presentResult({ text, isError, ...(meta !== undefined && { meta }) })
      for (const line of result(text, isError, view)) say(`  ${line}`)
    }
  }
}

const parse = (raw: string) => {
  try {
    return JSON.parse(raw)
  } catch {
    return raw
  }
}

const call = (name: string, raw: string, view: CallView | undefined): ReadonlyArray<string> => {
  if (view === undefined) return [`▸ ${name} ${short(raw)}`]
  switch (view.view) {
    case "terminal":
      return [`▸ $ ${short(view.title)}`]
    case "diff":
      return [`▸ ${view.title}`, ...view.diffs.flatMap(diff).map((line) => `  ${line}`)]
    case "generic":
      return [`▸ ${view.title}`]
  }
}

const diff = ({ newText, oldText }: FileDiff): ReadonlyArray<string> =>
  bounded([
    ...(oldText === null ? [] : oldText.split("\n").map((line) => `- ${line}`)),
    ...newText.split("\n").map((line) => `+ ${line}`)
  ])

const result = (text: string, isError: boolean, view: ResultView | undefined): ReadonlyArray<string> => {
  if (isError || view === undefined || view.view === "generic") return bounded(text.trim().split("\n"))
  switch (view.view) {
    case "terminal":
      return bounded(view.output.trim().split("\n"))
    case "read":
      return [`${view.lines} of ${view.totalLines} lines`]
    case "search":
      return [`${view.total} found${view.truncated ? ", not all shown" : ""}`]
    case "diff":
      // The call has shown it.
      return []
  }
}

/** The beginning says what it is about, the end has the verdict. */
const bounded = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (lines.length <= maxLines) return lines.map(short)
  const half = maxLines / 2
  return [...lines.slice(0, half), `… ${lines.length - maxLines} more lines`, ...lines.slice(-half)].map(short)
}

const short = (line: string): string => Text.ellipsis(line.replaceAll("\n", " "), maxUnits)
