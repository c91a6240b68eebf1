/**
 * The lines that say how things stand: what goes on, what waits, and what it took so far.
 */
import type { ContextSize } from "@dsh/protocol/ContextSize"
import { textOf } from "@dsh/protocol/Block"
import type { Inbox } from "@dsh/protocol/Inbox"
import * as UsageTally from "@dsh/protocol/UsageTally"
import { truncateToWidth } from "@earendil-works/pi-tui"
import type { Bill } from "../Bill.ts"
import * as Safe from "./Safe.ts"
import type { Theme } from "./Theme.ts"
import type { View } from "./View.ts"

/** `987`, `12.3k`, `4.5M`. */
export const short = (count: number): string => {
  if (count < 1000) return String(count)
  const [value, unit] = count < 999_950 ? [count / 1000, "k"] : [count / 1_000_000, "M"]
  return `${value < 100 ? value.toFixed(1) : Math.round(value)}${unit}`
}

const money = (amount: number): string =>
  amount >= 1 || amount === 0 ? amount.toFixed(2) : String(Number(amount.toPrecision(3)))

/** `12.3k in (81 % cached), 678 out, 0.0123 USD, context 10 %`; nothing before there was a request. */
export const usage = ({ cost, tally }: Bill, size: ContextSize): string => {
  if (tally.requests === 0) return ""
  const hits = UsageTally.cacheHitRatio(tally)
  const cached = hits === undefined ? "" : ` (${Math.round(hits * 100)} % cached)`
  return [
    `${short(tally.input + tally.cacheRead + tally.cacheWrite)} in${cached}`,
    `${short(tally.output)} out`,
    ...Array.from(cost.amounts, ([currency, amount]) => `${money(amount)} ${currency}`),
    ...(size.pressure === undefined ? [] : [`context ${Math.round(size.pressure * 100)} %`])
  ].join(", ")
}

export interface Standing {
  readonly model: string
  readonly permission: string
  readonly usage: string
  /** What is to be said instead of all that. */
  readonly hint: string | undefined
}

/** The least important is cut off first: it stands last. */
export const footer = ({ hint, model, permission, usage: used }: Standing, width: number, theme: Theme): string =>
  hint === undefined
    ? theme.dim(
        truncateToWidth(Safe.oneLine([model, permission, used].filter((part) => part !== "").join(" · ")), width, "…")
      )
    : theme.warning(truncateToWidth(hint, width, "…"))

/** @param seconds Since the turn began. */
export const activity = ({ drafting }: View, seconds: number, width: number, theme: Theme): string => {
  const what =
    drafting === undefined || drafting.name === ""
      ? "working"
      : `writing a call of ${drafting.name} (${short(drafting.size)})`
  return theme.accent(truncateToWidth(`◐ ${what}, ${seconds} s · Esc cancels, Enter steers, Tab queues`, width, "…"))
}

/** What was said and has not reached the model yet. */
export const queue = (inbox: Inbox, view: View, width: number, theme: Theme): ReadonlyArray<string> => {
  const lines = (label: string, messages: Inbox["next-step"]) =>
    messages
      .filter(({ source }) => source.kind === "user")
      .map(({ content }) => theme.dim(truncateToWidth(`${label}: ${Safe.oneLine(textOf(content))}`, width, "…")))
  // The first is the one that is being taken up.
  const later = view.isRunning && !view.isBegun ? inbox["next-turn"].slice(1) : inbox["next-turn"]
  const waiting = [...lines("» steers", inbox["next-step"]), ...lines("+ queued", later)]
  return waiting.length === 0
    ? []
    : [...waiting, theme.dim(truncateToWidth("  (Alt+Up takes the last one back)", width, "…"))]
}
