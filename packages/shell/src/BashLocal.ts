/**
 * `Shell` over bash on this machine, unconfined.
 */
import { Subprocess } from "@dsh/world/Subprocess"
import type {
  CollectedOutput,
  ProcessHandle,
  SpawnSpec,
  SubprocessError,
  SubprocessErrorCode
} from "@dsh/world/Subprocess"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as CommandEnv from "./CommandEnv.ts"
import * as OutputText from "./BashLocal/OutputText.ts"
import { Shell, ShellError } from "./Shell.ts"
import type { ShellErrorCode, ShellOutput, ShellRequest, ShellResult } from "./Shell.ts"

export interface Options {
  /** The shell, by name or absolute path. Default `bash`. */
  readonly shell?: string
  /** For requests that name no deadline. Default 120 000. */
  readonly timeoutMs?: number
  /** Longer deadlines are cut to this. Default 600 000. */
  readonly maxTimeoutMs?: number
  /** Bytes per stream that are returned, a quarter of them from its beginning, the rest from its end. Default 64 000. */
  readonly maxOutputBytes?: number
  /** Bytes per stream up to which the whole of it is kept in a file. Default 64 MiB. */
  readonly maxSpillBytes?: number
  /** Milliseconds from SIGTERM to SIGKILL. Default 3000. */
  readonly graceMs?: number
}

/** A process that even SIGKILL does not end (waiting for a dead disk, say) is reported without a status. */
const exitAfterKillMs = 1000

export const make = (options: Options = {}): Effect.Effect<Shell["Type"], never, Subprocess> =>
  Effect.map(Subprocess, (subprocess) =>
    Shell.of({
      run: Effect.fn("BashLocal.run")(function* (request) {
        const timeoutMs = yield* deadline(request, options)
        const process = yield* Effect.mapError(subprocess.spawn(invocation(request, options)), refused)
        const exit = yield* Effect.timeoutOption(process.exit, timeoutMs)
        if (Option.isSome(exit)) return yield* result(process, { ...exit.value, timedOut: false, timeoutMs })
        yield* process.terminate
        const killed = yield* Effect.timeoutOption(process.exit, exitAfterKillMs)
        const status = Option.getOrElse(killed, () => ({ exitCode: null, signal: null, pipeHeld: true }))
        return yield* result(process, { ...status, timedOut: true, timeoutMs })
      }, Effect.scoped),
      start: Effect.fn("BashLocal.start")(function* (request) {
        const process = yield* Effect.mapError(subprocess.spawn(invocation(request, options)), refused)
        const news = Effect.zipWith(following(process.collected.stdout), following(process.collected.stderr), heard)
        return { exit: process.exit, output: Effect.suspend(() => news) }
      })
    })
  )

export const layer = (options?: Options): Layer.Layer<Shell, never, Subprocess> => Layer.effect(Shell, make(options))

/** How a request is started. A provider that confines commands wraps the `argv`. */
export const invocation = (request: ShellRequest, options: Options = {}): SpawnSpec => {
  const { maxOutputBytes = 64_000 } = options
  const headBytes = Math.floor(maxOutputBytes / 4)
  const output = {
    maxBytes: maxOutputBytes - headBytes,
    headBytes,
    spill: { maxBytes: options.maxSpillBytes ?? 64 * 1024 * 1024 }
  }
  return {
    // Without `--` a command that begins with a dash would be taken for an option.
    argv: [options.shell ?? "bash", "-c", "--", request.command],
    cwd: request.cwd,
    env: CommandEnv.of(request),
    stdin: "ignore",
    stdout: output,
    stderr: output,
    graceMs: options.graceMs ?? 3000
  }
}

/** Each run gives what came since the run before. */
const following = ({ readFrom }: CollectedOutput): Effect.Effect<ShellOutput> => {
  let offset = 0
  return Effect.flatMap(
    Effect.suspend(() => readFrom(offset)),
    (read) => {
      const from = offset
      offset = read.nextOffset
      return OutputText.decode(read, from)
    }
  )
}

const heard = (stdout: ShellOutput, stderr: ShellOutput): string =>
  [said(stdout, ""), said(stderr, "[stderr]\n")].filter((text) => text !== "").join("\n")

const said = ({ spillPath, text, truncated }: ShellOutput, heading: string): string => {
  if (text === "") return ""
  const lost = truncated ? `\n[full output: ${spillPath ?? "(unavailable)"}]` : ""
  return `${heading}${text.replace(/\n$/, "")}${lost}`
}

const deadline = ({ timeoutMs }: ShellRequest, options: Options): Effect.Effect<number, ShellError> => {
  const wanted = timeoutMs ?? options.timeoutMs ?? 120_000
  return Number.isFinite(wanted) && wanted > 0
    ? Effect.succeed(Math.min(wanted, options.maxTimeoutMs ?? 600_000))
    : Effect.fail(
        new ShellError({
          code: "SHELL_INVALID_REQUEST",
          message: `timeoutMs is ${wanted}; give a positive number of milliseconds`
        })
      )
}

const result = (
  { collected }: ProcessHandle,
  outcome: Omit<ShellResult, "stdout" | "stderr">
): Effect.Effect<ShellResult> =>
  Effect.zipWith(whole(collected.stdout), whole(collected.stderr), (stdout, stderr) => ({ ...outcome, stdout, stderr }))

const whole = ({ readFrom }: CollectedOutput): Effect.Effect<ShellOutput> =>
  Effect.flatMap(readFrom(0), (read) => OutputText.decode(read))

const codes: Partial<Record<SubprocessErrorCode, ShellErrorCode>> = {
  SUBPROCESS_INVALID_SPEC: "SHELL_INVALID_REQUEST",
  SUBPROCESS_NOT_FOUND: "SHELL_NOT_FOUND",
  SUBPROCESS_CWD_NOT_FOUND: "SHELL_CWD_NOT_FOUND",
  SUBPROCESS_TOO_LONG: "SHELL_COMMAND_TOO_LONG",
  SANDBOX_UNAVAILABLE: "SANDBOX_UNAVAILABLE"
}

const refused = (cause: SubprocessError): ShellError =>
  new ShellError({ code: codes[cause.code] ?? "SHELL_FAILED", message: cause.message, cause })
