/**
 * What ends or slows down an agent that does not get on.
 */
import * as RepeatGuard from "@dsh/agent/RepeatGuard"
import { AgentCreated, AgentDisposed, AgentRequest, PreStep } from "@dsh/agent/AgentHooks"
import { Budgets, ModelPrices } from "@dsh/agent/Budgets"
import * as Plugin from "@dsh/kernel/Plugin"
import { SessionCreated } from "@dsh/session/Sessions"
import { Execute } from "@dsh/tools/ToolHooks"
import * as ToolTimeout from "@dsh/tools/ToolTimeout"
import { Tools } from "@dsh/tools/Tools"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const exact = { exact: true } as const
const Count = Schema.Int.pipe(Schema.positive())

const timeout = Plugin.make({
  name: "@dsh/tools/ToolTimeout",
  description: "Holds tools to their deadlines.",
  requires: [Execute, Tools],
  layer: () => ToolTimeout.layer()
})

const repeatGuard = Plugin.make({
  name: "@dsh/agent/RepeatGuard",
  description: "Reminds an agent that makes the same call again and again, and ends its turn in the end.",
  config: Schema.Struct({
    limit: Schema.optionalWith(Count, exact).annotations({
      description: "How often before the turn is ended. Default 12."
    }),
    pollingLimit: Schema.optionalWith(Count, exact).annotations({
      description: "The same, for calls that wait before they look. Default 60."
    }),
    reminders: Schema.optionalWith(Schema.Array(Count), exact).annotations({
      description: "How often before a reminder is given. Default 3, 5, 8."
    })
  }),
  requires: [PreStep, SessionCreated],
  layer: RepeatGuard.layer
})

const Limit = Schema.optionalWith(Count, exact)

const budgets = Plugin.make({
  name: "@dsh/agent/BudgetsPerTree",
  description: "What an agent and those that work for it may use before they are ended.",
  config: Schema.Struct({
    steps: Limit.annotations({ description: "Requests to the model, with the tool calls they ask for." }),
    turns: Limit.annotations({ description: "Prompts that it works on, those of others included." }),
    tokens: Limit.annotations({ description: "In and out, those from the provider's cache included." }),
    cost: Schema.optionalWith(
      Schema.Struct({ amount: Schema.Positive, currency: Schema.NonEmptyTrimmedString }),
      exact
    ).annotations({ description: "By the prices in the settings; a model without a price is not asked." }),
    timeMs: Limit.annotations({ description: "Milliseconds. What runs when they are over is interrupted." })
  }),
  provides: [Budgets],
  requires: [AgentCreated, AgentDisposed, AgentRequest, PreStep],
  uses: [ModelPrices],
  layer: (limits) =>
    Layer.unwrapEffect(
      Effect.map(
        Effect.promise(() => import("@dsh/agent/BudgetsPerTree")),
        (module) => module.layer(limits)
      )
    )
})

export const plugins = [timeout, repeatGuard, budgets]
