/**
 * The shell seam: one command line in, its outcome out. What confines the command, and in which shell it runs, is up to the provider.
 */
import type { Env } from "@dsh/world/AmbientEnv"
import type { SandboxMode } from "@dsh/world/Confinement"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export type ShellErrorCode =
  | "SHELL_INVALID_REQUEST"
  | "SHELL_NOT_FOUND"
  | "SHELL_CWD_NOT_FOUND"
  | "SHELL_COMMAND_TOO_LONG"
  | "SHELL_FAILED"
  | "SANDBOX_UNAVAILABLE"

/** The command was never run. A command that fails, times out or is killed is no error: it has a result. */
export class ShellError extends Data.TaggedError("ShellError")<{
  readonly code: ShellErrorCode
  readonly message: string
  readonly cause?: unknown
}> {}

/** Facts about the harness that a command may rely on, `DSH_SESSION_ID` for instance. */
export type ShellFacts = { readonly [name: `DSH_${string}`]: string }

export interface ShellRequest {
  readonly command: string
  /** Absolute path. */
  readonly cwd: string
  /** Milliseconds; the provider has a default and an upper bound. */
  readonly timeoutMs?: number
  /** On top of what the provider sets; trusted. */
  readonly env?: Env
  /** Win over everything else. */
  readonly facts?: ShellFacts
}

export interface ShellOutput {
  /** The beginning and the end of the stream, with a line that says what is left out, or all of it; a notice in place of binary output. */
  readonly text: string
  /** `text` lacks a part of the stream. */
  readonly truncated: boolean
  readonly totalBytes: number
  /** The complete stream, when `truncated` and not too large to be kept. */
  readonly spillPath?: string
  /** What it was decoded from, if not from UTF-8. */
  readonly encoding?: string
}

export interface ShellResult {
  /** Null when a signal ended the shell, and when it could not be ended. */
  readonly exitCode: number | null
  readonly signal: string | null
  /** The command was ended at its deadline. One that catches SIGTERM may still have exited with 0. */
  readonly timedOut: boolean
  /** The deadline that applied, in milliseconds. */
  readonly timeoutMs: number
  readonly stdout: ShellOutput
  readonly stderr: ShellOutput
  /** A process the command started still held its output when the shell had ended. */
  readonly pipeHeld: boolean
  /** Absent where nothing confined the command. */
  readonly sandbox?: {
    readonly mode: SandboxMode
    readonly enforcement: "full" | "partial"
    /** It failed, and what it printed says that it tried what it may not. */
    readonly denied: boolean
  }
}

/** A command that goes on in the background. It is ended by closing the Scope it was started in. */
export interface ShellProcess {
  readonly exit: Effect.Effect<{ readonly exitCode: number | null; readonly signal: string | null }>
  /** What it printed since this was asked last, standard output first. What was too much to keep is said, with the file that has it. */
  readonly output: Effect.Effect<string>
}

export class Shell extends Context.Tag("@dsh/shell/Shell")<
  Shell,
  {
    /**
     * Runs a command in a fresh shell and returns when that shell has ended or its time is up; nothing it started in its process group
     * lives on. Interruption ends the command and returns promptly.
     */
    readonly run: (request: ShellRequest) => Effect.Effect<ShellResult, ShellError>
    /** Starts a command and returns at once. It has no deadline; `timeoutMs` is not looked at. */
    readonly start: (request: ShellRequest) => Effect.Effect<ShellProcess, ShellError, Scope.Scope>
  }
>() {}
