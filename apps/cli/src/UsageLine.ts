/**
 * What was used, in one line for people: `3 requests, 12345 tokens in (81 % from the cache), 678 out (123 of them reasoning), 0.0123 USD`.
 */
import type { ContextSize } from "@dsh/protocol/ContextSize"
import * as UsageTally from "@dsh/protocol/UsageTally"
import type { Bill } from "./Bill.ts"

export const text = ({ cost, tally }: Bill): string => {
  const { output, reasoning, requests, unreported } = tally
  const input = tally.input + tally.cacheRead + tally.cacheWrite
  const hits = UsageTally.cacheHitRatio(tally)
  const parts = [
    requests === 1 ? "1 request" : `${requests} requests`,
    `${input} tokens in${hits === undefined ? "" : ` (${Math.round(hits * 100)} % from the cache)`}`,
    `${output} out${reasoning === 0 ? "" : ` (${reasoning} of them reasoning)`}`
  ]
  if (unreported > 0) parts.push(`${unreported} of unknown size`)
  if (cost.amounts.size > 0) parts.push(priced(cost.amounts, requests, cost.unknown))
  return parts.join(", ")
}

/** `0.0123 USD`; nothing where nobody keeps prices. */
export const cost = ({ cost: { amounts } }: Bill): string | undefined =>
  amounts.size === 0
    ? undefined
    : Array.from(amounts, ([currency, amount]) => `${money(amount)} ${currency}`).join(" + ")

const priced = (amounts: ReadonlyMap<string, number>, requests: number, unknown: number): string => {
  const sum = Array.from(amounts, ([currency, amount]) => `${money(amount)} ${currency}`).join(" + ")
  return unknown === 0 ? sum : `${sum} for ${requests - unknown} of them`
}

/** To the cent, or to three digits of what is less. */
const money = (amount: number): string =>
  amount >= 1 || amount === 0 ? amount.toFixed(2) : String(Number(amount.toPrecision(3)))

/** How full the window of the model is: `context 12345 of 128000 tokens (10 %)`. Nothing where that is not known. */
export const context = ({ pressure, total, window }: ContextSize): string | undefined =>
  pressure === undefined ? undefined : `context ${total} of ${window} tokens (${Math.round(pressure * 100)} %)`
