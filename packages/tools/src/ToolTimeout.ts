/**
 * Holds tools to the deadlines they declare. A body that does not end in time is interrupted and its call answered with `TOOL_TIMEOUT` at
 * once: one that cannot be interrupted just then does not hold the agent up, it comes to its end in the background.
 *
 * A cancel is another matter: who cancels wants to know that nothing runs any more, so there the body is waited for, as without this.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { ToolError } from "./ToolError.ts"
import { Execute } from "./ToolHooks.ts"
import type { ToolOutcome } from "./ToolHooks.ts"
import * as ToolPipeline from "./ToolPipeline.ts"
import { Tools } from "./Tools.ts"

export interface Options {
  /** How long the end of the process waits for bodies that are still on their way out. Default 2 seconds. */
  readonly grace?: Duration.DurationInput
}

// Within all others: waiting for a checkpoint or for a person is not the tool's time.
const innermost = { order: 10_000 }

/** For tools without a deadline it does nothing. */
export const layer = ({ grace = "2 seconds" }: Options = {}): Layer.Layer<never, never, Execute | Tools> =>
  Layer.unwrapScoped(
    Effect.map(background(grace), (scope) =>
      Execute.hook(
        "timeout",
        (execution, next) =>
          Effect.flatMap(Tools, (tools) => {
            const timeout = tools.get(execution.name)?.timeout
            return timeout === undefined
              ? next(execution)
              : within(next(execution), timeout, scope, timedOut(execution.name, timeout))
          }),
        innermost
      )
    )
  )

/** A Scope that does not wait for ever for what runs in it. */
const background = (grace: Duration.DurationInput): Effect.Effect<Scope.CloseableScope, never, Scope.Scope> =>
  Effect.acquireRelease(Scope.make(), (scope) =>
    // The wait has to be one that can be left, or the limit means nothing.
    Effect.ignore(Effect.timeoutOption(Effect.interruptible(Effect.disconnect(Scope.close(scope, Exit.void))), grace))
  )

const within = <E, R>(
  body: Effect.Effect<ToolOutcome, E, R>,
  timeout: Duration.DurationInput,
  scope: Scope.Scope,
  late: ToolOutcome
): Effect.Effect<ToolOutcome, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkIn(Effect.interruptible(body), scope)
      const wait = Effect.onInterrupt(Effect.timeoutOption(Fiber.await(fiber), timeout), () => Fiber.interrupt(fiber))
      const exit = yield* restore(wait)
      if (Option.isSome(exit)) return yield* exit.value
      yield* Fiber.interruptFork(fiber)
      return late
    })
  )

const timedOut = (name: string, timeout: Duration.DurationInput): ToolOutcome =>
  ToolPipeline.failure(
    new ToolError({
      code: "TOOL_TIMEOUT",
      message: `${name} did not end within ${Duration.format(timeout)} and was stopped; what it did by then is done. Ask for less at once, or go another way.`
    })
  )
