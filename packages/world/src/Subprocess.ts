/**
 * The subprocess seam: programs that run in the same world as the mounted `Fs`. Shells, search, language servers and MCP servers
 * start what they need here and nowhere else.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { Env } from "./AmbientEnv.ts"

export type SubprocessErrorCode =
  | "SUBPROCESS_INVALID_SPEC"
  | "SUBPROCESS_NOT_FOUND"
  | "SUBPROCESS_CWD_NOT_FOUND"
  | "SUBPROCESS_PERMISSION_DENIED"
  | "SUBPROCESS_TOO_LONG"
  | "SUBPROCESS_SPAWN_FAILED"
  | "SUBPROCESS_STDIN_CLOSED"
  | "SUBPROCESS_CLOSED"
  | "SUBPROCESS_NO_TERMINALS"
  | "SANDBOX_UNAVAILABLE"

/** The program could not be started or written to. A program that fails is no error: it has an exit status. */
export class SubprocessError extends Data.TaggedError("SubprocessError")<{
  readonly code: SubprocessErrorCode
  readonly message: string
  readonly cause?: unknown
}> {}

/**
 * Keep the last `maxBytes` in memory, and the first `headBytes` (default none); once they overflow, the complete stream also goes to a
 * file of at most `spill.maxBytes`.
 */
export interface Collect {
  readonly maxBytes: number
  readonly headBytes?: number
  readonly spill?: {
    readonly maxBytes: number
    /** Where the file is made, which goes with the service in any case. A folder that is there. Default: the provider's own. */
    readonly folder?: string
  }
}

/** `stream`: the consumer reads `ProcessHandle.stdout` / `stderr`, and the child waits while nobody does. */
export type OutputMode = "stream" | Collect

export interface SpawnSpec {
  /** Program and arguments; no shell looks at them. */
  readonly argv: ReadonlyArray<string>
  /** Absolute path. */
  readonly cwd: string
  /** On top of the inherited environment without its secrets; `undefined` removes a variable. */
  readonly env?: Env
  readonly stdin: "ignore" | "pipe" | { readonly data: Uint8Array | string }
  readonly stdout: OutputMode
  readonly stderr: OutputMode
  /** Milliseconds from SIGTERM to SIGKILL when the process is ended. Default: the provider's. */
  readonly graceMs?: number
}

export interface ProcessExit {
  /** Null when a signal ended the process. */
  readonly exitCode: number | null
  readonly signal: string | null
  /** Another process still held a collected pipe when reading stopped; what it writes later is not collected. */
  readonly pipeHeld: boolean
}

/** A look at a collected stream. Offsets count the bytes the process has written. */
export interface CollectedRead {
  readonly bytes: Uint8Array
  /** Where `bytes` begins. Later than asked for when `lossy`. */
  readonly offset: number
  /** Everything written so far ends here: the offset for the next read. */
  readonly nextOffset: number
  /** Bytes between the offset asked for and `offset` are no longer in memory. */
  readonly lossy: boolean
  /** What is kept of the beginning, when that was asked for and it is not part of `bytes`. */
  readonly head?: Uint8Array
  /** A file of the same world that has the complete stream, if it overflowed memory and still fits its cap. */
  readonly spillPath?: string
}

export interface CollectedOutput {
  /** Consumes nothing; works while the process runs and after it ended. */
  readonly readFrom: (offset: number) => Effect.Effect<CollectedRead>
}

export interface ProcessStdin {
  /** Waits until the bytes were handed to the pipe. */
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, SubprocessError>
  readonly end: Effect.Effect<void>
}

export interface ProcessHandle {
  readonly pid: number
  /** Settles when the process itself has ended, never later than a moment after: a stray child that holds a pipe is not waited for. */
  readonly exit: Effect.Effect<ProcessExit>
  /** Only with stdin `pipe`; otherwise writing fails. */
  readonly stdin: ProcessStdin
  /** The raw bytes of a stream of mode `stream`, to be read once; empty for a collected one. */
  readonly stdout: Stream.Stream<Uint8Array, SubprocessError>
  readonly stderr: Stream.Stream<Uint8Array, SubprocessError>
  /** Empty for a stream of mode `stream`. */
  readonly collected: { readonly stdout: CollectedOutput; readonly stderr: CollectedOutput }
  /** Ends the whole tree: SIGTERM, grace, SIGKILL. Returns when nothing is left; calling it again waits for the same end. */
  readonly terminate: Effect.Effect<void>
}

export interface PtySpec {
  /** Program and arguments; no shell looks at them. */
  readonly argv: ReadonlyArray<string>
  /** Absolute path. */
  readonly cwd: string
  /** On top of the inherited environment without its secrets; `undefined` removes a variable. `TERM` names the terminal. */
  readonly env?: Env
  readonly rows: number
  readonly cols: number
  /** Milliseconds from SIGTERM to SIGKILL when the terminal is ended. Default: the provider's. */
  readonly graceMs?: number
}

/** The process group that a terminal's keys and signals go to. */
export interface Foreground {
  readonly group: number
  /** How any of it waits for input from the terminal; false when none does, undefined where that cannot be known. */
  readonly waiting: InputWait | false | undefined
}

export interface InputWait {
  /** Names this very wait: it is another one when the program went on and waits again. */
  readonly id: string
  /** It waits for nothing else. Else it may be at work and only listens to its terminal, too. */
  readonly only: boolean
}

/** A program on a terminal of its own, with all that it starts there. */
export interface PtyHandle {
  /** The leader of the session. */
  readonly pid: number
  /** What is written to the terminal, to be read once. Programs wait while nobody reads. */
  readonly output: Stream.Stream<Uint8Array>
  /** Settles when the program itself has ended; what it wrote may still be read. */
  readonly exit: Effect.Effect<Pick<ProcessExit, "exitCode" | "signal">>
  /** As if somebody typed it. Waits while the program does not read; interruption leaves the rest untyped. */
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, SubprocessError>
  /** Undefined when the terminal has ended. */
  readonly foreground: Effect.Effect<Foreground | undefined>
  /** Sends a signal to the foreground group; the number of that. */
  readonly signal: (signal: NodeJS.Signals) => Effect.Effect<number, SubprocessError>
  /** Ends all of the session: SIGHUP and SIGTERM, grace, SIGKILL. Returns when nothing is left; again, it waits for the same end. */
  readonly terminate: Effect.Effect<void>
}

export class Subprocess extends Context.Tag("@dsh/world/Subprocess")<
  Subprocess,
  {
    /**
     * Starts a program in a process group and session of its own, without a controlling terminal. Closing the Scope ends the whole
     * tree; that returns within a moment, and a tree that resists is killed in the background.
     */
    readonly spawn: (spec: SpawnSpec) => Effect.Effect<ProcessHandle, SubprocessError, Scope.Scope>
    /**
     * Starts a program that leads a session on a terminal of its own. Closing the Scope ends the session as `spawn` does a tree. Fails
     * with `SUBPROCESS_NO_TERMINALS` where there are none.
     *
     * It is part of this seam, because a terminal that was opened past whoever confines programs would be a way out.
     */
    readonly openPty: (spec: PtySpec) => Effect.Effect<PtyHandle, SubprocessError, Scope.Scope>
    /** The absolute path of a program, given as an absolute path or as a bare name to look up in the child's PATH. */
    readonly resolveExecutable: (
      command: string,
      options?: { readonly env?: Env }
    ) => Effect.Effect<string, SubprocessError>
  }
>() {}
