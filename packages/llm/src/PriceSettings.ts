/**
 * The price table as users keep it, under `prices` in their settings:
 *
 *   prices:
 *     deepseek-official/deepseek-v4-flash:
 *       - { from: 2026-01-01, currency: USD, input: 0.14, cacheRead: 0.0028, output: 0.28 }
 *       - { from: 2026-09-01, currency: USD, input: 0.12, cacheRead: 0.0028, output: 0.24 }
 *
 * Prices are for a million tokens, and hold from the beginning of a day in UTC; without a date they always did. A price that does not
 * change needs no list.
 */
import type { PriceTable } from "@dsh/protocol/Prices"
import type { Section } from "@dsh/settings/Settings"
import * as Schema from "effect/Schema"

const isDay = (text: string): boolean => {
  const time = Date.parse(text)
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

const Day = Schema.String.pipe(Schema.filter(isDay, { message: () => "is no day; write it as 2026-01-31" }))
const Amount = Schema.Number.pipe(
  Schema.filter((amount) => Number.isFinite(amount) && amount >= 0, { message: () => "is no price" })
)

const Price = Schema.Struct({
  from: Schema.optional(Day),
  currency: Schema.NonEmptyTrimmedString,
  input: Amount,
  /** Default: that of input, as where nothing is cheaper. */
  cacheRead: Schema.optional(Amount),
  /** Default: that of input. */
  cacheWrite: Schema.optional(Amount),
  output: Amount
})

const Prices = Schema.Record({ key: Schema.String, value: Schema.Union(Price, Schema.Array(Price)) }).pipe(
  Schema.filter((prices) =>
    Object.keys(prices).flatMap((name) =>
      /^[^/]+\/./.test(name) ? [] : [{ path: [name], message: "names no model; write it as provider/model" }]
    )
  )
)

export const section: Section<typeof Prices.Type, typeof Prices.Encoded> = { name: "prices", schema: Prices }

/** The table behind the section. */
export const table = (prices: typeof Prices.Type): PriceTable =>
  new Map(
    Object.entries(prices).map(([model, price]) => [
      model,
      ("output" in price ? [price] : price).map(({ cacheRead, cacheWrite, currency, from, input, output }) => ({
        from: from === undefined ? 0 : Date.parse(from),
        currency,
        input,
        cacheRead: cacheRead ?? input,
        cacheWrite: cacheWrite ?? input,
        output
      }))
    ])
  )
