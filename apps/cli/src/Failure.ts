/**
 * The one error a command ends with: what the user reads as `dsh: CODE: message`, and the exit code that goes with it.
 */
import * as Data from "effect/Data"
import * as ExitCode from "./ExitCode.ts"

export class Failure extends Data.TaggedError("Failure")<{
  /** Stable and upper-case; scripts match on it. */
  readonly code: string
  /** One sentence that says what to do next. */
  readonly message: string
  readonly exitCode: ExitCode.ExitCode
}> {}

/** The command line made no sense. */
export const usage = (message: string): Failure => new Failure({ code: "USAGE", message, exitCode: ExitCode.usage })

/** Something the user must set up first. */
export const configuration = (code: string, message: string): Failure =>
  new Failure({ code, message, exitCode: ExitCode.configuration })

/** Any error of ours that already carries its code and message. */
export const fromError = (error: { readonly code: string; readonly message: string }): Failure =>
  new Failure({ code: error.code, message: error.message, exitCode: ExitCode.failed })
