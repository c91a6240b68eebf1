/**
 * `dsh session list`: the sessions under the home folder, last used first, one line each.
 */
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"
import * as Sessions from "../Sessions.ts"

export const run: Command = Sessions.withPersistence((persistence) =>
  Effect.gen(function* () {
    const output = yield* Output
    const { sessions, warnings } = yield* persistence.list
    for (const warning of warnings) output.failure(warning)
    if (sessions.length === 0) output.notice("there are no sessions yet")
    else {
      const lines = sessions.map(({ header, length, updatedAt }) =>
        [header.id, new Date(updatedAt).toISOString(), `${length ?? "?"} events`, header.cwd ?? "-"].join("  ")
      )
      yield* output.print(lines.join("\n"))
    }
    return ExitCode.completed
  })
)
