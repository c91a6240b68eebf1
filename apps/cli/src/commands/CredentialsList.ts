/**
 * `dsh credentials list`: which keys are set, and where. Never what they are.
 */
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Keys from "../Keys.ts"
import { Output } from "../Output.ts"

export const run = (json: boolean): Command =>
  Effect.gen(function* () {
    const { credentials } = yield* Keys.load
    const names = Array.from(new Set([...Keys.references, ...(yield* credentials.list)])).sort()
    const listed = yield* Effect.forEach(names, (name) =>
      Effect.map(credentials.describe(name), ({ configured, source }) => ({ name, configured, source: source ?? null }))
    )
    const width = Math.max(...names.map(({ length }) => length))
    const output = yield* Output
    yield* output.print(
      listed
        .map((one) =>
          json
            ? JSON.stringify(one)
            : `${one.name.padEnd(width)}  ${one.source === null ? "not set" : `set in ${Keys.places[one.source]}`}`
        )
        .join("\n")
    )
    return ExitCode.completed
  }).pipe(Effect.mapError(Keys.failure))
