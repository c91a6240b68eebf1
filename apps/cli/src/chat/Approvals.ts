/**
 * The question whether a call may be made, with the call itself to look at.
 */
import type { Outcome } from "@dsh/permission/Approval"
import * as ExactRule from "@dsh/permission/ExactRule"
import { truncateToWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui"
import * as Card from "./Card.ts"
import * as Dialogs from "./Dialog.ts"
import type { Dialog } from "./Dialog.ts"
import type * as Painter from "./Painter.ts"
import * as Safe from "./Safe.ts"
import type { ToolCall } from "./View.ts"

export interface Asked {
  readonly toolName: string
  readonly callId: string | undefined
  readonly reason: string | undefined
  readonly answer: (outcome: Outcome) => void
}

export interface Options {
  readonly paint: Painter.Options
  /** Where the call would be made. */
  readonly cwd: string
  /** How many more are asked after this one. */
  readonly waiting: () => number
}

const parse = (raw: string) => {
  try {
    return JSON.parse(raw)
  } catch {
    return undefined
  }
}

/** What an answer that lasts is kept as. */
const ruleOf = ({ arguments: raw, name }: ToolCall, cwd: string): string =>
  Safe.oneLine(ExactRule.of({ tool: name, arguments: parse(raw), cwd }))

const card = (call: ToolCall, width: number, { theme, tools }: Painter.Options): ReadonlyArray<string> => {
  const { lines, title } = Card.ofCall(call, { theme, tools, most: 16 })
  // All of a command: what is not seen cannot be judged.
  const head = title
    .split("\n")
    .flatMap((line) => wrapTextWithAnsi(line.replaceAll("\t", "    "), Math.max(1, width - 2)))
  return [
    ...Card.bounded(head, 20, theme.dim).map((line) => `  ${theme.bold(line)}`),
    ...lines.map((line) => truncateToWidth(`    ${line.replaceAll("\t", "    ")}`, width, "…"))
  ]
}

export const dialog = (
  asked: Asked,
  call: ToolCall | undefined,
  answer: (outcome: Outcome) => void,
  { cwd, paint, waiting }: Options
): Dialog => {
  const { theme } = paint
  let shown: { readonly width: number; readonly lines: ReadonlyArray<string> } | undefined
  const cardOf = (width: number): ReadonlyArray<string> => {
    if (call === undefined) return []
    if (shown?.width !== width) shown = { width, lines: card(call, width, paint) }
    return shown.lines
  }
  const lasting = call === undefined ? "calls like this one" : ruleOf(call, cwd)
  const reason = asked.reason === undefined ? [] : [Safe.text(asked.reason)]
  return Dialogs.make({
    theme,
    numbered: true,
    title: (width) => [
      theme.warning(truncateToWidth(`May ${Safe.oneLine(asked.toolName)} do this?`, width, "…")),
      ...cardOf(width),
      ...reason.flatMap((text) => wrapTextWithAnsi(text, Math.max(1, width - 2))).map((line) => theme.dim(`  ${line}`)),
      ...(waiting() > 0 ? [theme.dim(`  ${waiting()} more to answer after it`)] : [])
    ],
    items: [
      { value: "allowed-once", label: "Yes, once" },
      { value: "allowed-session", label: "Yes, in this session", description: lasting },
      { value: "allowed-always", label: "Yes, always", description: lasting },
      { value: "rejected", label: "No", description: "and the agent is told so" }
    ],
    hint: "1 to 4, or Up, Down and Enter; Esc: no",
    choose: (value) => answer(value as Outcome),
    cancel: () => answer("rejected")
  })
}
