/**
 * How long an answer may be: what the window has left, by estimate or by what the provider says of it. In tokens.
 */
import type { ContextSize } from "@dsh/protocol/ContextSize"

/** A shorter ceiling is of no use to anybody; the request is sent with it, and refused for what it is. */
export const least = 1024

/** By how much an estimate may be short. What was counted is not. */
const doubt = 0.2

/** The longest answer there is room for, rounded. */
export const ceiling = ({ reported, total }: ContextSize, window: number): number =>
  rounded(window - reported - (total - reported) * (1 + doubt))

/** Down to one of eight steps per halving, so that a ceiling is not another one at every step. */
export const rounded = (left: number): number => {
  if (left <= least) return least
  const step = 2 ** Math.floor(Math.log2(left)) / 8
  return Math.max(least, Math.floor(left / step) * step)
}

/** The window and the messages, as refusals tell them: "maximum context length is N …, you requested … (M in the messages, …)". */
export const told = (message: string): { readonly window: number; readonly messages: number } | undefined => {
  const found = /maximum context length is (\d+)\b[\s\S]*?\((\d+) in the messages/i.exec(message)
  return found === null ? undefined : { window: Number(found[1]), messages: Number(found[2]) }
}
