/**
 * What an agent may use before it is ended, together with the agents that work for it: steps, turns, tokens, money, time.
 *
 * Before each request it is asked whether anything is spent; the request that crosses a limit is still answered. Time is another
 * matter: when it is up, whatever runs is interrupted. Either way the turn ends as aborted, with the budget as its cause; what was
 * logged stays, and input that waited still waits.
 */
import type { Cost } from "@dsh/protocol/Prices"
import type * as Prices from "@dsh/protocol/Prices"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Agent } from "./Agent.ts"
import type { AgentError } from "./AgentError.ts"

export type Rationed = "steps" | "turns" | "tokens" | "cost" | "time"

declare module "@dsh/protocol/SessionEvent" {
  interface CancelCauses {
    /** Something that is rationed ran out. */
    readonly budget: {
      readonly of: Rationed
      /** Time is in milliseconds. */
      readonly limit: number
      /** The currency of a cost. */
      readonly unit?: string
      /** Not the limit ended it: nobody knows what this model costs, as `provider/model`, in that currency. */
      readonly unpriced?: string
    }
  }
}

/** What is left out is not rationed. */
export interface Limits {
  /** Requests to the model with the tool calls they ask for; one that is tried again counts once. */
  readonly steps?: number | undefined
  readonly turns?: number | undefined
  /** In and out, those from the provider's cache included. An answer whose usage nobody reported is estimated. */
  readonly tokens?: number | undefined
  /** By `ModelPrices`. A model that has no price there is not asked. */
  readonly cost?: { readonly amount: number; readonly currency: string } | undefined
  /** Milliseconds from when the budget was given. */
  readonly timeMs?: number | undefined
}

export interface Spent {
  readonly steps: number
  readonly turns: number
  readonly tokens: number
  readonly cost: Cost
  readonly timeMs: number
}

export interface Budget {
  readonly limits: Limits
  /** By the agent and those that work for it, since the budget was given. */
  readonly spent: Effect.Effect<Spent>
}

export class Budgets extends Context.Tag("@dsh/agent/Budgets")<
  Budgets,
  {
    /**
     * From now on the agent and those that work for it share these limits, with nothing spent yet. What it shared with others before it
     * shares no more. `INVALID_OPTIONS` for a limit that is not above 0, or is no whole number where things are counted.
     */
    readonly give: (agent: Agent, limits: Limits) => Effect.Effect<void, AgentError>
    /** Nothing for an agent that nothing is rationed for. */
    readonly of: (agent: Agent) => Budget | undefined
  }
>() {}

/** What models cost, from whoever keeps a list. */
export class ModelPrices extends Context.Tag("@dsh/agent/ModelPrices")<ModelPrices, Prices.PriceTable>() {}
