/**
 * A ceiling on the steps of a turn, so that a model that never stops calling tools, or a hook that always steers, comes to an end.
 *
 * The turn ends as aborted, with the budget as its cause. What was logged stays, tool results included, and input that waited still
 * waits: the next prompt goes on from there with a budget of its own. Merged in at the root it holds for every agent, each turn
 * counted for itself; in an agent's realm for that one.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AgentError } from "./AgentError.ts"
import { PreStep } from "./AgentHooks.ts"

declare module "@dsh/protocol/SessionEvent" {
  interface CancelCauses {
    /** Something that is rationed ran out. */
    readonly budget: { readonly of: string; readonly limit: number }
  }
}

export interface Options {
  /** Steps that a turn may have; a step is a model request with the tool calls it asks for. */
  readonly maxSteps: number
}

/** Fails with `INVALID_OPTIONS` unless `maxSteps` is a whole number above 0. */
export const layer = ({ maxSteps }: Options): Layer.Layer<never, AgentError, PreStep> =>
  Number.isSafeInteger(maxSteps) && maxSteps > 0
    ? PreStep.hook(
        "step budget",
        (input, next) =>
          input.step <= maxSteps
            ? next(input)
            : // The cancel interrupts this very turn.
              Effect.zipRight(input.agent.cancel({ kind: "budget", of: "steps", limit: maxSteps }), Effect.never),
        // Before anything else spends time on a step that there will not be.
        { order: -1000 }
      )
    : Layer.fail(
        new AgentError({
          code: "INVALID_OPTIONS",
          message: `the step budget is ${maxSteps}; use a whole number above 0`
        })
      )
