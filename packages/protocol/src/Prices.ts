/**
 * What requests cost, by a table of prices that somebody keeps: providers publish theirs and change them, so none are built in.
 */
import type { Billed } from "./UsageTally.ts"

/** For a million tokens of each bucket. */
export interface Price {
  /** From when on it holds, in epoch milliseconds. */
  readonly from: number
  /** Such as `USD`. */
  readonly currency: string
  /** Input that was not in the provider's cache. */
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
}

/** The prices of each model, by `provider/model`. */
export type PriceTable = ReadonlyMap<string, ReadonlyArray<Price>>

/** What is known of a cost. */
export interface Cost {
  /** By currency. */
  readonly amounts: ReadonlyMap<string, number>
  /** Requests that are in none of the amounts: nobody reported their usage, or there is no price. */
  readonly unknown: number
}

export const none: Cost = { amounts: new Map(), unknown: 0 }

export const add = (a: Cost, b: Cost): Cost => {
  const amounts = new Map(a.amounts)
  for (const [currency, amount] of b.amounts) amounts.set(currency, (amounts.get(currency) ?? 0) + amount)
  return { amounts, unknown: a.unknown + b.unknown }
}

/** The price that held for a model at that time. */
export const at = (
  table: PriceTable,
  { model, provider, time }: Pick<Billed, "provider" | "model" | "time">
): Price | undefined => {
  let latest: Price | undefined
  for (const price of table.get(`${provider}/${model}`) ?? []) {
    if (price.from <= time && (latest === undefined || price.from >= latest.from)) latest = price
  }
  return latest
}

/** What one request cost. */
export const costOf = (table: PriceTable, request: Omit<Billed, "seq">): Cost => {
  const price = at(table, request)
  const { usage } = request
  if (price === undefined || usage === undefined) return { amounts: new Map(), unknown: 1 }
  const { cacheReadTokens = 0, cacheWriteTokens = 0, inputTokens, outputTokens } = usage
  const amount =
    inputTokens * price.input +
    cacheReadTokens * price.cacheRead +
    cacheWriteTokens * price.cacheWrite +
    outputTokens * price.output
  return { amounts: new Map([[price.currency, amount / 1_000_000]]), unknown: 0 }
}
