/**
 * `Shell` over bash, confined: the same as `BashLocal` over a `Subprocess` that confines, and its results say what that came to.
 */
import { Sandbox } from "@dsh/sandbox/Sandbox"
import { CurrentConfinement } from "@dsh/world/Confinement"
import type { Subprocess } from "@dsh/world/Subprocess"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as BashLocal from "./BashLocal.ts"
import { Shell, ShellError } from "./Shell.ts"
import type { ShellResult } from "./Shell.ts"

export type { Options } from "./BashLocal.ts"

/** `Subprocess` is the one that confines: see `SubprocessConfined`. */
export const make = (options?: BashLocal.Options): Effect.Effect<Shell["Type"], never, Subprocess | Sandbox> =>
  Effect.gen(function* () {
    const bash = yield* BashLocal.make(options)
    const sandbox = yield* Sandbox
    return Shell.of({
      start: bash.start,
      run: (request) =>
        Effect.gen(function* () {
          const mode = (yield* CurrentConfinement)?.mode
          const result = yield* bash.run(request)
          if (mode === undefined || mode === "danger-full-access") return result
          const { exitCode, stderr, stdout } = result
          const verdict = sandbox.judge({ exitCode, stdout: stdout.text, stderr: stderr.text })
          if (verdict.kind === "unavailable") {
            const { code, message } = verdict.error
            return yield* new ShellError({ code, message, cause: verdict.error })
          }
          const { enforcement } = sandbox
          return { ...result, sandbox: { mode, enforcement, denied: verdict.kind === "denied" } } satisfies ShellResult
        })
    })
  })

export const layer = (options?: BashLocal.Options): Layer.Layer<Shell, never, Subprocess | Sandbox> =>
  Layer.effect(Shell, make(options))
