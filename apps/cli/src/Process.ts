/**
 * Runs one command as a process: signals in, exit code out, every failure reported once.
 *
 * `NodeRuntime.runMain` knows neither our exit codes nor a limit for cleaning up, and reports on stdout.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import type { Command } from "./Dispatch.ts"
import { Ended } from "./Ended.ts"
import type { Ending } from "./Ended.ts"
import * as ExitCode from "./ExitCode.ts"
import type { Failure } from "./Failure.ts"
import * as Logs from "./Logs.ts"
import { Output } from "./Output.ts"

export interface Options {
  /** A server is told to stop by SIGTERM: that is how it completes. Default false. */
  readonly server?: boolean
  /** How long a command may take to clean up after a signal, in milliseconds. Default 10 s. */
  readonly graceMillis?: number
}

/** Ends the process. The first signal interrupts the command; a second one ends the process at once. */
export const runMain = (command: Command, output: Output["Type"], options: Options = {}): void => {
  let finished = false
  const ending: Ending = { code: undefined, lastWords: undefined }

  const giveUp = (code: ExitCode.ExitCode): never => {
    ending.lastWords?.(code)
    process.exit(code)
  }

  const end = (code: ExitCode.ExitCode, graceMillis: number): void => {
    if (finished || ending.code !== undefined) giveUp(code)
    ending.code = code
    fiber.unsafeInterruptAsFork(FiberId.none)
    setTimeout(() => {
      output.failure({ code: "SHUTDOWN", message: `cleaning up took longer than ${graceMillis} ms; ended without it` })
      giveUp(code)
    }, graceMillis)
  }

  // Before the command starts: it may have written a file by the time `runFork` returns.
  for (const signal of ExitCode.allSignals) {
    const code = options.server === true && signal === "SIGTERM" ? ExitCode.completed : ExitCode.ofSignal(signal)
    process.on(signal, () => {
      // A terminal that closes says so more than once: the shell does, and the system when the shell is gone.
      if (signal === "SIGHUP" && ending.code !== undefined) return
      end(code, options.graceMillis ?? 10_000)
    })
  }
  process.on("uncaughtException", (error) => {
    output.failure({ code: "INTERNAL", message: error.stack ?? String(error) })
    end(ExitCode.failed, 2000)
  })
  // A fiber that waits for something inside the process does not keep Node alive by itself.
  setInterval(() => {}, 2 ** 31 - 1)

  const fiber = command.pipe(
    Effect.provideService(Output, output),
    Effect.provideService(Ended, ending),
    Logs.toOutput(output),
    Effect.runFork
  )
  fiber.addObserver((exit) => {
    finished = true
    const code = report(exit, output)
    Effect.runCallback(output.flush, { onExit: () => process.exit(ending.code ?? code) })
  })
}

const report = (exit: Exit.Exit<ExitCode.ExitCode, Failure>, output: Output["Type"]): ExitCode.ExitCode => {
  if (Exit.isSuccess(exit)) return exit.value
  const failure = Cause.failureOption(exit.cause)
  if (failure._tag === "Some") {
    output.failure(failure.value)
    return failure.value.exitCode
  }
  if (!Cause.isInterruptedOnly(exit.cause)) output.failure({ code: "INTERNAL", message: Cause.pretty(exit.cause) })
  return ExitCode.failed
}
