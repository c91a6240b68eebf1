/**
 * What can go wrong with stored sessions: one error class, told apart by `code`.
 */
import type { SessionId } from "@dsh/protocol/Ids"
import * as Data from "effect/Data"

export type PersistenceErrorCode =
  /** Nothing is stored under the id. */
  | "SESSION_NOT_FOUND"
  /** The id is taken, in memory or in storage. */
  | "SESSION_ALREADY_EXISTS"
  /** Somebody has the session open and may write to it. */
  | "SESSION_IN_USE"
  /** Two artifacts claim one id. */
  | "AMBIGUOUS_SESSION"
  /** The backend cannot name an artifact after the id. */
  | "INVALID_SESSION_ID"
  | "INVALID_SESSION_HEADER"
  /** An event that JSON would not give back unchanged. */
  | "NOT_LOSSLESS_JSON"
  /** An event that a reader would refuse. */
  | "INVALID_EVENT"
  /** The batch does not continue the stored log. */
  | "NOT_CONTIGUOUS"
  /** The log was written by a newer or an older format. Nothing is damaged. */
  | "UNSUPPORTED_FORMAT"
  /** A record in the middle of the log does not make sense. */
  | "CORRUPT_LOG"
  /** The log is not as long as it was left: another process wrote to it. */
  | "TORN_TAIL"
  /** The storage refused: full, read-only, unreachable. */
  | "STORAGE_FAILED"

export class PersistenceError extends Data.TaggedError("PersistenceError")<{
  readonly code: PersistenceErrorCode
  /** Says what to do next. */
  readonly message: string
  readonly sessionId?: SessionId
  /** The artifact concerned. */
  readonly path?: string
  /** Where in the artifact, counted from 1. */
  readonly line?: number
  readonly cause?: unknown
}> {}
