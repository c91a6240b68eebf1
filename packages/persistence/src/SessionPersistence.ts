/**
 * The seam between live sessions and storage: events are stored as they are, in order, and read back unchanged. There is no second
 * model of a session.
 *
 * This module is the contract. A backend implements `PersistenceBackend`; `PersistenceCoordinator` lifts it to this.
 */
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { SessionId } from "@dsh/protocol/Ids"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Defect } from "./Diagnosis.ts"
import type { PersistenceError } from "./PersistenceError.ts"
import type { RawLog } from "./RawLog.ts"
import type { StoredSession } from "./StoredSession.ts"

/** What a listing knows without reading the log. */
export interface SessionSummary {
  readonly header: SessionHeader
  /** The artifact, where the backend has one per session. */
  readonly path?: string
  /** Stored size, where the backend knows it. */
  readonly bytes?: number
  /** The number of events; absent when the last record is too large to be looked at. */
  readonly length?: number
  /** Time of the last event in epoch milliseconds; of the last write when the last record is too large to be looked at. */
  readonly updatedAt: number
}

export interface SessionListing {
  /** Last used first. */
  readonly sessions: ReadonlyArray<SessionSummary>
  /** What could not be listed, one per broken neighbour. */
  readonly warnings: ReadonlyArray<PersistenceError>
}

export interface Repair {
  /** Where the log is kept as it was; nothing when it was left as it is. */
  readonly backup?: string
  /** What was found: defects without `repair` are still there. */
  readonly defects: ReadonlyArray<Defect>
}

export class SessionPersistence extends Context.Tag("@dsh/persistence/SessionPersistence")<
  SessionPersistence,
  {
    /**
     * Takes the id of a new session for as long as the current Scope is open. Nothing is stored before the first append, so an id
     * that was never written to is free again when the Scope closes; a written log is made durable then.
     * `SESSION_ALREADY_EXISTS` for an id that is taken or stored, `INVALID_SESSION_HEADER`, `INVALID_SESSION_ID`.
     */
    readonly create: (header: SessionHeader) => Effect.Effect<void, PersistenceError, Scope.Scope>
    /**
     * Takes a stored session, to be continued for as long as the current Scope is open. Half a record at the end of the log is cut off
     * and kept aside, and a turn that was interrupted is closed, durably, before this succeeds: see `Interrupted.closers`.
     * `SESSION_NOT_FOUND`, `SESSION_IN_USE` when this or another process has the session open, and all that `load` fails with.
     */
    readonly resume: (id: SessionId) => Effect.Effect<StoredSession, PersistenceError, Scope.Scope>
    /**
     * Stores events behind those already stored: all of them or, on failure, none. Succeeds when the operating system has them; see
     * `Durability` for what is synced when. An empty batch does nothing. Serves stored sessions that nobody has open, too.
     * `NOT_CONTIGUOUS`, `NOT_LOSSLESS_JSON`, `INVALID_EVENT`, `SESSION_NOT_FOUND`, `SESSION_IN_USE`, `TORN_TAIL`,
     * `STORAGE_FAILED`.
     */
    readonly append: (id: SessionId, entries: ReadonlyArray<LogEntry>) => Effect.Effect<void, PersistenceError>
    /** Waits until everything appended so far survives a loss of power. */
    readonly flush: (id: SessionId) => Effect.Effect<void, PersistenceError>
    /**
     * Reads a log and changes nothing. An incomplete record at the end is left out; anything else that is wrong is an error that
     * names the line. Event types of extensions are passed on without a look at their data.
     * `SESSION_NOT_FOUND`, `UNSUPPORTED_FORMAT`, `CORRUPT_LOG`, `AMBIGUOUS_SESSION`, `STORAGE_FAILED`.
     */
    readonly load: (id: SessionId) => Effect.Effect<StoredSession, PersistenceError>
    /** All stored sessions, from their headers and tails. A broken one is a warning and stops nothing. */
    readonly list: Effect.Effect<SessionListing, PersistenceError>
    /**
     * What is wrong with a stored log, defect by defect; none for one that is sound. Changes nothing.
     * `SESSION_NOT_FOUND`, `UNSUPPORTED_FORMAT`, `AMBIGUOUS_SESSION`, `STORAGE_FAILED`.
     */
    readonly check: (id: SessionId) => Effect.Effect<ReadonlyArray<Defect>, PersistenceError>
    /**
     * Writes the log anew without the defects that a repair can take away, and keeps the old one beside it. Does nothing when there
     * are none. Fails as `check` does, and with `SESSION_IN_USE`.
     */
    readonly repair: (id: SessionId) => Effect.Effect<Repair, PersistenceError>
    /** The stored session as it stands there, damaged or not. `SESSION_NOT_FOUND`, `AMBIGUOUS_SESSION`, `STORAGE_FAILED`. */
    readonly raw: (id: SessionId) => Effect.Effect<RawLog, PersistenceError>
    /** Deletes a stored session and what is kept beside it. `SESSION_NOT_FOUND`, `SESSION_IN_USE`, `STORAGE_FAILED`. */
    readonly delete: (id: SessionId) => Effect.Effect<void, PersistenceError>
    /** Where a session is stored; nothing for one that is not, or not in an artifact of its own. */
    readonly locate: (id: SessionId) => Effect.Effect<string | undefined, PersistenceError>
  }
>() {}
