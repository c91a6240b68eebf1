/**
 * Shows how far a batch has come: in a terminal one line that is written again and again, otherwise a line now and then.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { isatty } from "node:tty"
import type { Output } from "../Output.ts"
import * as Progress from "./Progress.ts"
import type { Tally } from "./Tally.ts"

/** Fast enough to look alive. */
const redrawMs = 250
/** Seldom enough for a log. */
const lineMs = 10_000

const erase = "\r\u001b[2K"

/** Until the current Scope closes. `clear` is for before anything else is written to the terminal. */
export const make = (tally: Tally, startedAt: number, output: Output["Type"]) =>
  Effect.gen(function* () {
    const now = Effect.map(Clock.currentTimeMillis, (time) => Progress.line(tally, time - startedAt))
    if (!isatty(2)) {
      yield* Effect.forkScoped(Effect.forever(Effect.delay(Effect.map(now, output.notice), lineMs)))
      return { clear: () => {} }
    }
    const clear = () => void process.stderr.write(erase)
    // With the cursor at its beginning, whatever comes next is written over it.
    const draw = (text: string) =>
      process.stderr.write(`${erase}${text.slice(0, (process.stderr.columns ?? 80) - 1)}\r`)
    yield* Effect.addFinalizer(() => Effect.sync(clear))
    yield* Effect.forkScoped(Effect.forever(Effect.zipLeft(Effect.map(now, draw), Effect.sleep(redrawMs))))
    return { clear }
  })
