/**
 * The terminal seam: shells and programs that go on between the calls of an agent, which types into them and reads what they show.
 * What runs on a terminal is up to the backends, one per type; every terminal belongs to a session and is nobody else's.
 */
import type { Session } from "@dsh/session/Session"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export type TerminalErrorCode =
  | "DUPLICATE_BACKEND"
  | "DUPLICATE_NAME"
  | "FOREIGN_SESSION"
  | "NO_BACKEND"
  | "NO_SESSION"
  | "OWNER_NOT_LIVE"
  | "SEND_ACTIVE"
  | "SERVICE_DISPOSING"
  | "SIGNAL_REFUSED"
  | "TERMINAL_FAILED"
  | "SANDBOX_UNAVAILABLE"

export class TerminalError extends Data.TaggedError("TerminalError")<{
  readonly code: TerminalErrorCode
  readonly message: string
  readonly cause?: unknown
}> {}

export const signals = ["SIGINT", "SIGTERM", "SIGKILL", "SIGTSTP", "SIGHUP"] as const
export type TerminalSignal = (typeof signals)[number]

/** How the program on a terminal ended; undefined while it runs. */
export type Ended = { readonly exitCode: number | null; readonly signal: string | null } | undefined

/**
 * Why a send returned: a program waits for input, nothing was shown for a while, time is up, or the program on the terminal has ended.
 */
export type WaitReason = "stdin_read" | "inferred_idle" | "timeout" | "session_exit"

export interface SendOptions {
  /** Sent to what is in front before anything is typed. */
  readonly signal?: TerminalSignal
  /** Presses Enter at the end. Default true. */
  readonly submit?: boolean
  /** Milliseconds; default: the backend's. */
  readonly timeoutMs?: number
  /** Whether a while without output ends it. Default true. */
  readonly inferIdle?: boolean
}

export interface Sent {
  /** What was shown since, without control sequences; the beginning of it when it was very much. */
  readonly text: string
  /** The very end, when `text` is not all of it. */
  readonly tail: string | undefined
  readonly wait: WaitReason
  /** The shell is back at its prompt, so what was typed is done. */
  readonly atPrompt: boolean
  readonly ended: Ended
}

/** Lines that were shown, counted from 1 since the terminal was opened. */
export interface Page {
  readonly text: string
  readonly from: number
  readonly to: number
  /** How many there were; the oldest are forgotten. */
  readonly total: number
}

/** An open terminal, as its backend sees it. It closes with the Scope it was opened in. */
export interface Terminal {
  /** What was shown until it was ready. */
  readonly startup: string
  /** Types and waits. Interruption sends SIGINT to what is in front. */
  readonly send: (text: string, options: SendOptions) => Effect.Effect<Sent, TerminalError>
  /** A page that ends `offset` lines before the newest. */
  readonly read: (offset: number, count: number) => Effect.Effect<Page>
  /** To the foreground process group; the number of that. */
  readonly signal: (signal: TerminalSignal) => Effect.Effect<number, TerminalError>
  readonly ended: Effect.Effect<Ended>
  /** Ends everything on it; returns when nothing is left. */
  readonly terminate: Effect.Effect<void>
}

/** Opens terminals of a type. */
export interface Backend {
  readonly type: string
  /** What it is for, for the description of the tool. */
  readonly description: string
  readonly open: (request: {
    readonly id: string
    readonly owner: Session
    readonly cwd: string
  }) => Effect.Effect<Terminal, TerminalError, Scope.Scope>
}

export interface OpenRequest {
  readonly type: string
  readonly owner: Session
  /** Absolute path. */
  readonly cwd: string
  /** Another way to call it; unique among those of its owner. */
  readonly name?: string
}

export interface TerminalInfo {
  /** `pty-<n>`. */
  readonly id: string
  readonly type: string
  readonly name: string | undefined
  readonly cwd: string
  readonly ended: Ended
}

/** All of them fail with `NO_SESSION` and `FOREIGN_SESSION`, where they take the id (or name) of a terminal and its owner. */
export class Terminals extends Context.Tag("@dsh/terminal/Terminals")<
  Terminals,
  {
    /** For as long as the Scope is open; its terminals close with it. Fails with `DUPLICATE_BACKEND`. */
    readonly register: (backend: Backend) => Effect.Effect<void, TerminalError, Scope.Scope>
    readonly types: () => ReadonlyArray<Backend>
    /**
     * Opens a terminal; while it is opening and open the sandbox mode of its owner cannot be changed. Fails with `NO_BACKEND`,
     * `DUPLICATE_NAME`, `OWNER_NOT_LIVE`, `SERVICE_DISPOSING`, or as the backend does.
     */
    readonly open: (request: OpenRequest) => Effect.Effect<TerminalInfo & { readonly startup: string }, TerminalError>
    /** Fails with `SEND_ACTIVE` while another send to the same terminal goes on. */
    readonly send: (
      id: string,
      owner: Session,
      text: string,
      options?: SendOptions
    ) => Effect.Effect<Sent, TerminalError>
    readonly read: (id: string, owner: Session, offset: number, count: number) => Effect.Effect<Page, TerminalError>
    readonly signal: (id: string, owner: Session, signal: TerminalSignal) => Effect.Effect<number, TerminalError>
    readonly list: (owner: Session) => Effect.Effect<ReadonlyArray<TerminalInfo>>
    /** Ends everything on it and returns when nothing is left. A send that goes on hears of the end. */
    readonly close: (id: string, owner: Session) => Effect.Effect<TerminalInfo, TerminalError>
  }
>() {}
