/**
 * A program around `Process.runMain` for its tests: commands that end in every possible way.
 */
import * as Effect from "effect/Effect"
import type { Command } from "../../src/Dispatch.ts"
import { Failure } from "../../src/Failure.ts"
import * as Output from "../../src/Output.ts"
import * as Process from "../../src/Process.ts"

const output = Output.make(process)

const printed = (text: string) => Effect.orDie(output.print(text))

/** Runs until it is interrupted, then cleans up. */
const untilStopped = (cleanUp: Effect.Effect<void>): Command =>
  Effect.ensuring(Effect.zipRight(printed("ready"), Effect.never), cleanUp)

const endings: Readonly<Record<string, Command>> = {
  code: Effect.zipRight(Effect.logWarning("look", "out"), Effect.succeed(124)),
  failure: Effect.fail(new Failure({ code: "AUTH", message: "the key was refused", exitCode: 1 })),
  defect: Effect.die(new TypeError("a bug")),
  thrown: Effect.zipRight(
    Effect.sync(() =>
      setImmediate(() => {
        throw new TypeError("out of the blue")
      })
    ),
    untilStopped(printed("cleaned up"))
  ),
  forgotten: Effect.zipRight(
    printed("ready"),
    Effect.async<never>(() => {})
  ),
  polite: untilStopped(printed("cleaned up")),
  stubborn: untilStopped(Effect.zipRight(printed("cleaning"), Effect.never)),
  unfinished: Effect.as(
    Effect.sync(() => output.reasoning("half a thought")),
    0
  )
}

Process.runMain(endings[process.argv[2] ?? ""] ?? Effect.succeed(1), output, { graceMillis: 200 })
