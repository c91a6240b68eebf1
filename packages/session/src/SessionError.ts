/**
 * What can go wrong with a session: one error class, told apart by `code`.
 */
import type { SessionId } from "@dsh/protocol/Ids"
import * as Data from "effect/Data"

export type SessionErrorCode =
  | "SESSION_NOT_FOUND"
  | "SESSION_ALREADY_EXISTS"
  | "SESSION_IN_USE"
  | "SESSION_CLOSED"
  | "INVALID_SESSION_HEADER"
  | "INVALID_SEED"
  | "INVALID_BOUNDARY"
  | "OPEN_TURN"
  | "UNKNOWN_EVENT_TYPE"
  | "NOT_LOSSLESS_JSON"
  | "INVALID_SURFACE"
  | "INVALID_INBOX_SPLICE"
  | "INVARIANT"
  | "FLUSH_FAILED"
  | "STORAGE_REFUSED"

export class SessionError extends Data.TaggedError("SessionError")<{
  readonly code: SessionErrorCode
  readonly sessionId: SessionId
  readonly message: string
  readonly cause?: unknown
}> {}
