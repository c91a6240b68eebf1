/**
 * How tools are presented to the model, realm by realm: as tools of their own, as functions of programs, or as both.
 */
import * as Realm from "@dsh/kernel/Realm"
import type { Forkable } from "@dsh/kernel/Realm"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export const modes = ["native", "ptc", "both"] as const

/** `native`: each tool by itself; `ptc`: only programs, which call the tools; `both`. */
export type Mode = (typeof modes)[number]

export class CodeModeError extends Data.TaggedError("CodeModeError")<{
  readonly code: "NO_CODE_RUNTIME" | "NO_SDK_RENDERER" | "TOOLS_MODE_TAKEN"
  readonly message: string
}> {}

interface Service extends Forkable<Service> {
  /** The mode of the nearest realm that chose one, else the default. */
  readonly current: () => Mode
  /** Chooses the mode of this realm for as long as the current Scope is open. Another choice in the same realm is refused. */
  readonly choose: (mode: Mode) => Effect.Effect<void, CodeModeError, Scope.Scope>
  /** How many parallel-safe calls of one program run at once. */
  readonly maxParallelSubCalls: number
}

export class ToolsMode extends Context.Tag("@dsh/code-mode/ToolsMode")<ToolsMode, Service>() {}

export const make = (maxParallelSubCalls: number, inherited: () => Mode): Service => {
  const chosen = new Set<{ readonly mode: Mode }>()
  const current = (): Mode => {
    for (const { mode } of chosen) return mode
    return inherited()
  }
  return {
    [Realm.Fork]: () => make(maxParallelSubCalls, current),
    current,
    maxParallelSubCalls,
    choose: (mode) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          for (const { mode: taken } of chosen) {
            if (taken !== mode) {
              return new CodeModeError({
                code: "TOOLS_MODE_TAKEN",
                message: `tools are presented as "${taken}" here and cannot be presented as "${mode}", too; keep one of the two`
              })
            }
          }
          const choice = { mode }
          chosen.add(choice)
          return Effect.succeed(choice)
        }),
        (choice) => Effect.sync(() => chosen.delete(choice))
      )
  }
}
