/**
 * What is known of the end of the process before it ends: a command that is interrupted cannot tell by whom.
 */
import * as Context from "effect/Context"
import type { ExitCode } from "./ExitCode.ts"

export interface Ending {
  /** The exit code that a signal has decided. */
  code: ExitCode | undefined
  /** What is to be done at once when there is no time to end properly. Synchronous. */
  lastWords: ((code: ExitCode) => void) | undefined
}

export class Ended extends Context.Reference<Ended>()("@dsh/cli/Ended", {
  defaultValue: (): Ending => ({ code: undefined, lastWords: undefined })
}) {}
