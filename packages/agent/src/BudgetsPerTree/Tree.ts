/**
 * What an agent and those below it may use, and have used.
 */
import * as Prices from "@dsh/protocol/Prices"
import type { PriceTable } from "@dsh/protocol/Prices"
import type { CancelCause } from "@dsh/protocol/SessionEvent"
import type { Billed } from "@dsh/protocol/UsageTally"
import type * as Fiber from "effect/Fiber"
import type { Agent } from "../Agent.ts"
import type { Limits, Rationed, Spent } from "../Budgets.ts"

type Overrun = Extract<CancelCause, { readonly kind: "budget" }>

export class Tree {
  readonly limits: Limits
  readonly prices: PriceTable
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Ends what runs when time is up. */
  clock: Fiber.RuntimeFiber<void> | undefined
  /** Agents that were let into a step that has not begun. */
  readonly entering = new Set<Agent>()
  steps = 0
  turns = 0
  #tokens = 0
  #cost: Prices.Cost = Prices.none

  constructor(limits: Limits, prices: PriceTable, startedAt: number) {
    this.limits = limits
    this.prices = prices
    this.startedAt = startedAt
  }

  bill(request: Billed): void {
    const { cacheReadTokens = 0, cacheWriteTokens = 0, inputTokens = 0, outputTokens = 0 } = request.usage ?? {}
    this.#tokens += inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens
    this.#cost = Prices.add(this.#cost, Prices.costOf(this.prices, request))
  }

  spent(now: number): Spent {
    return {
      steps: this.steps,
      turns: this.turns,
      tokens: this.#tokens,
      cost: this.#cost,
      timeMs: now - this.startedAt
    }
  }

  /** Why there may be no further request, if there may not. */
  overrun(now: number): Overrun | undefined {
    const { cost, timeMs, tokens, turns } = this.limits
    if (timeMs !== undefined && now - this.startedAt >= timeMs) return over("time", timeMs)
    if (turns !== undefined && this.turns > turns) return over("turns", turns)
    if (tokens !== undefined && this.#tokens >= tokens) return over("tokens", tokens)
    if (cost === undefined || (this.#cost.amounts.get(cost.currency) ?? 0) < cost.amount) return undefined
    return { ...over("cost", cost.amount), unit: cost.currency }
  }

  /** The same for a further step of `agent`. Others that are about to begin one have theirs. */
  overrunBy(agent: Agent, now: number): Overrun | undefined {
    const { steps } = this.limits
    const others = this.entering.size - (this.entering.has(agent) ? 1 : 0)
    return steps !== undefined && this.steps + others >= steps ? over("steps", steps) : this.overrun(now)
  }

  /** The same for a request to a model that nobody knows the price of. */
  unpriced(provider: string, model: string, now: number): Overrun | undefined {
    const { cost } = this.limits
    if (cost === undefined) return undefined
    return Prices.at(this.prices, { provider, model, time: now })?.currency === cost.currency
      ? undefined
      : { ...over("cost", cost.amount), unit: cost.currency, unpriced: `${provider}/${model}` }
  }
}

const over = (of: Rationed, limit: number): Overrun => ({ kind: "budget", of, limit })
