/**
 * What requests used and what that cost.
 */
import * as Prices from "@dsh/protocol/Prices"
import * as UsageTally from "@dsh/protocol/UsageTally"

export interface Bill {
  readonly tally: UsageTally.Tally
  /** Nothing in it where nobody keeps prices. */
  readonly cost: Prices.Cost
}

export const none: Bill = { tally: UsageTally.none, cost: Prices.none }

export const of = (prices: Prices.PriceTable, request: UsageTally.Billed): Bill => ({
  tally: UsageTally.tallyOf(request),
  cost: Prices.costOf(prices, request)
})

export const add = (a: Bill, b: Bill): Bill => ({
  tally: UsageTally.add(a.tally, b.tally),
  cost: Prices.add(a.cost, b.cost)
})
