/**
 * What a run may use, as people type it.
 */
import type { Limits } from "@dsh/agent/Budgets"
import * as Prices from "@dsh/protocol/Prices"
import type { PriceTable } from "@dsh/protocol/Prices"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Failure from "./Failure.ts"

export interface Typed {
  readonly maxSteps: string | undefined
  readonly maxTokens: string | undefined
  /** As in `0.50`, for US dollars, or `5CNY`. */
  readonly maxCost: string | undefined
  /** As in `90`, for seconds, `10s`, `5m` or `2h`. */
  readonly timeout: string | undefined
}

export const isGiven = (typed: Typed): boolean => Object.values(typed).some((value) => value !== undefined)

/** Fails with exit code 2. */
export const parse = (typed: Typed): Effect.Effect<Limits, Failure.Failure> =>
  Effect.gen(function* () {
    const steps = yield* wholeNumber("--max-steps", typed.maxSteps)
    const tokens = yield* wholeNumber("--max-tokens", typed.maxTokens)
    const cost = yield* amount(typed.maxCost)
    const timeMs = yield* milliseconds(typed.timeout)
    return {
      ...(steps !== undefined && { steps }),
      ...(tokens !== undefined && { tokens }),
      ...(cost !== undefined && { cost }),
      ...(timeMs !== undefined && { timeMs })
    }
  })

const wholeNumber = (name: string, value: string | undefined): Effect.Effect<number | undefined, Failure.Failure> =>
  value === undefined || /^[1-9]\d{0,11}$/.test(value)
    ? Effect.succeed(value === undefined ? undefined : Number(value))
    : Failure.usage(`${name} takes a whole number above 0, not "${value}"`)

const amount = (value: string | undefined): Effect.Effect<Limits["cost"], Failure.Failure> => {
  if (value === undefined) return Effect.succeed(undefined)
  const [, digits, currency = "USD"] = /^(\d{1,9}(?:\.\d{1,9})?) ?([A-Za-z]{3})?$/.exec(value) ?? []
  return digits !== undefined && Number(digits) > 0
    ? Effect.succeed({ amount: Number(digits), currency: currency.toUpperCase() })
    : Failure.usage(`--max-cost takes an amount above 0, such as 0.50 (US dollars) or 5CNY, not "${value}"`)
}

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }
/** What a timer can wait for. */
const longest = 2 ** 31 - 1

const milliseconds = (value: string | undefined): Effect.Effect<number | undefined, Failure.Failure> => {
  if (value === undefined) return Effect.succeed(undefined)
  const [, digits, unit = "s"] = /^(\d{1,9}(?:\.\d{1,3})?)([smh])?$/.exec(value) ?? []
  const wanted = digits === undefined ? 0 : Math.round(Number(digits) * seconds[unit]! * 1000)
  return wanted > 0 && wanted <= longest
    ? Effect.succeed(wanted)
    : Failure.usage(`--timeout takes a time of at most 24 days, such as 90 (seconds), 10s, 5m or 2h, not "${value}"`)
}

/** A budget of money cannot be kept for a model whose price nobody knows. Fails with exit code 3. */
export const priced = (
  { cost }: Limits,
  prices: PriceTable,
  { model, provider }: { readonly provider: string; readonly model: string }
): Effect.Effect<void, Failure.Failure> =>
  Effect.flatMap(Clock.currentTimeMillis, (time) =>
    cost === undefined || Prices.at(prices, { provider, model, time })?.currency === cost.currency
      ? Effect.void
      : Failure.configuration("PRICE_UNKNOWN", unpriced(`${provider}/${model}`, cost.currency))
  )

export const unpriced = (model: string, currency: string): string =>
  `there is no price of ${model} in ${currency}, so --max-cost cannot be kept; ` +
  `add what it costs for a million tokens: dsh settings set 'prices."${model}"' '{ currency: ${currency}, input: 1, output: 2 }'`
