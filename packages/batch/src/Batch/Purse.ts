/**
 * What all tasks of a batch cost together, while it happens.
 */
import * as Prices from "@dsh/protocol/Prices"
import type { Billed } from "@dsh/protocol/UsageTally"

export class Purse {
  #spent: Prices.Cost
  readonly #prices: Prices.PriceTable | undefined
  readonly #limit: { readonly amount: number; readonly currency: string } | undefined
  readonly #onSpent: () => void

  constructor(
    prices: Prices.PriceTable | undefined,
    limit: { readonly amount: number; readonly currency: string } | undefined,
    spent: Prices.Cost = Prices.none,
    onSpent: () => void
  ) {
    this.#prices = prices
    this.#limit = limit
    this.#spent = spent
    this.#onSpent = onSpent
    this.#look()
  }

  /** What the request cost; nothing where nobody keeps prices. */
  pay(request: Billed): Prices.Cost | undefined {
    if (this.#prices === undefined) return undefined
    const cost = Prices.costOf(this.#prices, request)
    this.#spent = Prices.add(this.#spent, cost)
    this.#look()
    return cost
  }

  #look(): void {
    if (this.#limit === undefined) return
    const { amount, currency } = this.#limit
    if ((this.#spent.amounts.get(currency) ?? 0) >= amount) this.#onSpent()
  }
}
