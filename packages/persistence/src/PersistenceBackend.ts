/**
 * What a storage driver implements: some ways in and a writer with two methods. `PersistenceCoordinator` does the rest (ids, order,
 * validation, durability), so a driver is never asked for two things of one session at once, and never sees an invalid batch.
 */
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { SessionId } from "@dsh/protocol/Ids"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { PersistenceError } from "./PersistenceError.ts"
import type { RawLog } from "./RawLog.ts"
import type { SessionListing } from "./SessionPersistence.ts"
import type { StoredSession } from "./StoredSession.ts"

export interface PersistenceBackend {
  /** Where the session is stored, by its id alone and without a look into any log; nothing when it is not stored. */
  readonly locate: (id: SessionId) => Effect.Effect<Location | undefined, PersistenceError>
  /**
   * A writer for a session that is not stored. Creates nothing before its first `append`, which fails with
   * `SESSION_ALREADY_EXISTS` when somebody else stored the id meanwhile. The Scope is the session's life.
   */
  readonly create: (header: SessionHeader) => Effect.Effect<SessionWriter, PersistenceError, Scope.Scope>
  /**
   * A writer behind a stored log, and the log. The Scope is the session's life: nobody else gets a writer as long as it is open
   * (`SESSION_IN_USE`). What does not make a record at the end of the log is taken away and kept elsewhere.
   */
  readonly resume: (
    id: SessionId
  ) => Effect.Effect<{ readonly stored: StoredSession; readonly writer: SessionWriter }, PersistenceError, Scope.Scope>
  /** See `SessionPersistence.load`. */
  readonly load: (id: SessionId) => Effect.Effect<StoredSession, PersistenceError>
  /** See `SessionPersistence.list`. */
  readonly list: Effect.Effect<SessionListing, PersistenceError>
  /** Nobody gets a writer for the stored session as long as the Scope is open. Looks at nothing of the log. */
  readonly hold: (id: SessionId) => Effect.Effect<void, PersistenceError, Scope.Scope>
  /** The stored session as it stands there, damaged or not. */
  readonly raw: (id: SessionId) => Effect.Effect<RawLog, PersistenceError>
  /** Puts another log in the place of one that is held, durably and in one step. Succeeds with where the old one is kept. */
  readonly rewrite: (
    id: SessionId,
    header: SessionHeader,
    entries: ReadonlyArray<LogEntry>
  ) => Effect.Effect<string, PersistenceError>
  /** Takes away a session that is held, and all that is kept beside it. */
  readonly remove: (id: SessionId) => Effect.Effect<void, PersistenceError>
}

export interface Location {
  /** The session's own artifact, if it has one. */
  readonly path?: string
}

/** Appends to one session. Its calls never overlap and are never interrupted; what they return is run at once. */
export interface SessionWriter {
  /**
   * Stores a non-empty, contiguous, valid batch: all of it or none. `sync` asks that it survives a loss of power when this
   * succeeds.
   */
  readonly append: (
    entries: ReadonlyArray<LogEntry>,
    options: { readonly sync: boolean }
  ) => Effect.Effect<void, PersistenceError>
  /** Makes everything appended so far survive a loss of power. */
  readonly sync: Effect.Effect<void, PersistenceError>
}

/**
 * Which failure a stored event survives.
 *
 * - `process`: the death of this process at any moment, `kill -9` included, from the checkpoint that follows it on (model request,
 *   tool call, end of a turn). Synced at the end of every turn and once a second while a session is written to, so a loss of power
 *   or a crash of the operating system costs at most the last second of a running turn.
 * - `strict`: a loss of power, too, from that checkpoint on. Every batch is synced; each checkpoint waits for the disk.
 */
export type Durability = "process" | "strict"
