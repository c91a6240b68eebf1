/**
 * Back to an earlier turn: the conversation, the files, or both.
 *
 * What a turn changed in the workspace is in the log (`files/changed`), and what was there before is kept beside the sessions. So the
 * state of the files at the end of any turn is known for whatever the agent changed, and nothing else is ever touched: neither files
 * that it left alone, nor the repository.
 *
 * The conversation goes back in the same session: `session/rewound` says from where the model's view is taken. The log only grows, every
 * request is rebuilt from it as before, turns keep their numbers, and so a rewind can be taken back by one to a later turn.
 */
import type { SessionId } from "@dsh/protocol/Ids"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { FileState } from "./FileChange.ts"

export type RewindErrorCode =
  /** There is no turn of that number. */
  | "REWIND_NO_SUCH_TURN"
  /** A turn is running; it has to end first. */
  | "OPEN_TURN"
  | "SESSION_NOT_FOUND"
  /** Another process works with it; the message says which. */
  | "SESSION_IN_USE"
  /** The log or the store of snapshots could not be read or written. */
  | "REWIND_FAILED"

export class RewindError extends Data.TaggedError("RewindError")<{
  readonly code: RewindErrorCode
  readonly message: string
  readonly cause?: unknown
}> {}

/** A turn that one can go back to: to its end. */
export interface Point {
  /** Turns keep their numbers, whatever is rewound. */
  readonly turn: number
  /** When it began, in epoch milliseconds. */
  readonly time: number
  /** The beginning of the prompt, on one line. */
  readonly prompt: string
  /** What it changed, relative to the workspace, sorted. */
  readonly files: ReadonlyArray<string>
  /** Whether the model sees it; not after the conversation went back to an earlier one. */
  readonly isVisible: boolean
}

/** One file before and after. */
export interface FileDiff {
  /** Relative to the workspace. */
  readonly path: string
  readonly before: FileState
  readonly after: FileState
  /** As `git diff` writes it, with its headers; it ends in a newline. Empty for folders, which git does not know. */
  readonly patch: string
}

/** Why a file is left as it is. */
export type Obstacle =
  /** Somebody else changed it: since, or in between. `force` goes over it. */
  | "changed-since"
  /** What was there is not kept: too large, or gone from the store. */
  | "not-kept"
  /** It is not below the workspace any more, or something is in its way. */
  | "out-of-reach"

export interface FileStep {
  /** Relative to the workspace. */
  readonly path: string
  /** What is there now. */
  readonly from: FileState
  /** What was there at the end of the turn. */
  readonly to: FileState
  /** Why nothing is done about it, and for people. */
  readonly obstacle?: { readonly kind: Obstacle; readonly reason: string }
}

export interface Plan {
  readonly session: SessionId
  /** The workspace; absolute. */
  readonly folder: string | undefined
  /** To the end of this one. 0: before the first. */
  readonly turn: number
  /** What has to be done, and what cannot; nothing for what is as it was. Empty when files are left alone. */
  readonly files: ReadonlyArray<FileStep>
  /** Turns that the model will no longer see, and those that it will see again. Empty when the conversation is left alone. */
  readonly hidden: ReadonlyArray<number>
  readonly shown: ReadonlyArray<number>
}

export interface Request {
  readonly session: SessionId
  /** To the end of this turn; 0: before the first one. */
  readonly turn: number
  readonly files: boolean
  readonly conversation: boolean
  /** Files that somebody else changed go back, too. Default false: they are named and left alone. */
  readonly force?: boolean
}

export interface Outcome extends Plan {
  /** Paths that are now as they were. */
  readonly restored: ReadonlyArray<string>
  /** What was planned and failed, with reasons. */
  readonly failed: ReadonlyArray<{ readonly path: string; readonly reason: string }>
  /** The turn that takes this back. */
  readonly undo: number
}

/** For a session that is live in this process, and for one that is stored. */
export class Rewind extends Context.Tag("@dsh/rewind/Rewind")<
  Rewind,
  {
    /** In order; none for a session without turns. */
    readonly points: (session: SessionId) => Effect.Effect<ReadonlyArray<Point>, RewindError>
    /** What a turn changed, or all of them together; sorted by path, without what is as it was. */
    readonly diff: (session: SessionId, turn?: number) => Effect.Effect<ReadonlyArray<FileDiff>, RewindError>
    /** What `rewind` would do now. Changes nothing. */
    readonly plan: (request: Request) => Effect.Effect<Plan, RewindError>
    /**
     * Goes back. What is there is kept first and the log says so before a file is touched: who is killed in between calls it again. Input
     * that is still pending is withdrawn with the conversation.
     */
    readonly rewind: (request: Request) => Effect.Effect<Outcome, RewindError>
  }
>() {}
