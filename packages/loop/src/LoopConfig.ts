/**
 * Knobs of the loop that have a sensible default. Read when they are used, so that a change applies from the next use.
 */
import * as Context from "effect/Context"

export class LoopConfig extends Context.Reference<LoopConfig>()("@dsh/loop/LoopConfig", {
  defaultValue: (): {
    /** Parallel-safe tool calls of one step that may run at once; 1 is serial. */
    readonly maxParallelToolCalls: number
    /** What an agent without a model of its own uses. */
    readonly defaultModel: { readonly provider: string; readonly model: string } | undefined
  } => ({ maxParallelToolCalls: 10, defaultModel: undefined })
}) {}
