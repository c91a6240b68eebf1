/**
 * Log lines of the run, on stderr. Effect's default logger would write them to stdout, among the answer.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import type { Output } from "./Output.ts"

const toText = (message: unknown): string =>
  Array.isArray(message)
    ? message.map(toText).join(" ")
    : typeof message === "string"
      ? message
      : JSON.stringify(message)

const make = (output: Output["Type"]): Logger.Logger<unknown, void> =>
  Logger.make(({ cause, logLevel, message }) => {
    const details = Cause.isEmpty(cause) ? "" : `\n${Cause.pretty(cause)}`
    output.notice(`${logLevel._tag.toLowerCase()}: ${toText(message)}${details}`)
  })

/**
 * Sends warnings and worse to `output`, as `dsh: warning: message`.
 *
 * This is `Logger.replace` and `Logger.minimumLogLevel` without the two Layers: building those would be a tenth of the
 * time from start to first request.
 */
export const toOutput =
  (output: Output["Type"]) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    effect.pipe(
      Logger.withMinimumLogLevel(LogLevel.Warning),
      Effect.locally(FiberRef.currentLoggers, HashSet.make(make(output)))
    )
