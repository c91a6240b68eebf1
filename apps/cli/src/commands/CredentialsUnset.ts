/**
 * `dsh credentials unset NAME`: forgets a key that is kept.
 */
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import * as Keys from "../Keys.ts"
import { Output } from "../Output.ts"

export const run = (name: string): Command =>
  Effect.gen(function* () {
    const { credentials } = yield* Keys.load
    const output = yield* Output
    const was = yield* credentials.unset(name)
    const { source } = yield* credentials.describe(name)
    if (!was) {
      return yield* Failure.fromError({
        code: "CREDENTIAL_NOT_KEPT",
        message: `${name} is not kept here${source === undefined ? "" : `; it comes from ${Keys.places[source]}`}`
      })
    }
    output.notice(
      `${name} is forgotten${source === undefined ? "" : `; from now on it comes from ${Keys.places[source]}`}`
    )
    return ExitCode.completed
  }).pipe(Effect.mapError(Keys.failure))
