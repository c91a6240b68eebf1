/**
 * What is wrong with the database, in words that say what to do.
 */
import type { PlatformError } from "@effect/platform/Error"
import type { SqlError } from "@effect/sql/SqlError"
import type { BadLine } from "@dsh/persistence/JsonlCodec"
import { PersistenceError } from "@dsh/persistence/PersistenceError"
import type { PersistenceErrorCode } from "@dsh/persistence/PersistenceError"
import type { SessionId } from "@dsh/protocol/Ids"
import * as Predicate from "effect/Predicate"

interface Kind {
  /** The primary result code. */
  readonly result: number
  /** SQLite's own words for it: a statement that cannot be prepared comes with nothing else. */
  readonly words: string
  readonly advice: string
  readonly code?: PersistenceErrorCode
}

const unusable = "check its permissions or choose another file for sessions"

const kinds: ReadonlyArray<Kind> = [
  { result: 5, words: "database is locked", advice: "another program holds on to the database; end it and try again" },
  { result: 8, words: "readonly database", advice: unusable },
  { result: 10, words: "disk I/O error", advice: "check the disk and try again" },
  {
    result: 11,
    words: "malformed",
    advice: 'the database is damaged; restore a backup, or save what is left of it with "sqlite3 FILE .recover"',
    code: "CORRUPT_LOG"
  },
  { result: 13, words: "full", advice: "free some space" },
  { result: 14, words: "unable to open", advice: unusable },
  { result: 26, words: "not a database", advice: "move the file away or choose another one for sessions" }
]

/** The error of having failed to `action` (as in "write to") the database, or the folder it is in. */
export const storageFailed = (action: string, path: string) => (error: SqlError | PlatformError) => {
  const cause = error._tag === "SqlError" ? error.cause : error
  const reason = reasonOf(cause) ?? error.message
  const kind = error._tag === "SqlError" ? kindOf(cause, reason) : undefined
  return new PersistenceError({
    code: kind?.code ?? "STORAGE_FAILED",
    message: `cannot ${action} ${path}: ${reason}; ${kind?.advice ?? unusable}`,
    path,
    cause: error
  })
}

const kindOf = (cause: unknown, reason: string): Kind | undefined => {
  const errcode = Predicate.hasProperty(cause, "errcode") ? cause.errcode : undefined
  // The higher bits tell kinds of the kind apart.
  if (typeof errcode === "number") return kinds.find(({ result }) => result === (errcode & 0xff))
  return kinds.find(({ words }) => reason.includes(words))
}

const reasonOf = (cause: unknown): string | undefined => {
  if (Predicate.hasProperty(cause, "description") && typeof cause.description === "string") return cause.description
  return cause instanceof Error ? cause.message : undefined
}

/** The error of a database that another program made. */
export const foreign = (path: string) =>
  new PersistenceError({
    code: "STORAGE_FAILED",
    message: `sessions cannot be kept in ${path}: it is the database of another program; choose another file`,
    path
  })

export const tooNew = (path: string, found: number, known: number) =>
  new PersistenceError({
    code: "UNSUPPORTED_FORMAT",
    message: `${path} cannot be used: its schema is version ${found}, this build knows ${known}; upgrade dsh to use it`,
    path
  })

/** The error of a file system that SQLite cannot share memory on. */
export const noWriteAhead = (path: string) =>
  new PersistenceError({
    code: "STORAGE_FAILED",
    message: `sessions cannot be kept in ${path}: it cannot have a write-ahead log there; choose a file on a local disk`,
    path
  })

const howToRepair = '"dsh session check" tells more, and "dsh session repair" repairs it'

/** The error of a session that cannot be read, because of its header or one of its events. */
export const unreadable = (path: string, id: string, where: string, { cause, code, reason }: BadLine) =>
  new PersistenceError({
    code,
    message:
      code === "UNSUPPORTED_FORMAT"
        ? `session ${id} in ${path} cannot be read: ${reason}`
        : `session ${id} in ${path} cannot be read: ${where} is bad: ${reason}; ${howToRepair}`,
    path,
    ...(cause !== undefined && { cause })
  })

export const misplaced = (path: string, id: string, found: SessionId) =>
  new PersistenceError({
    code: "CORRUPT_LOG",
    message: `session ${id} in ${path} cannot be read: its header is that of session ${found}; restore the header or delete the row`,
    path
  })

export const notFound = (path: string, id: SessionId) =>
  new PersistenceError({
    code: "SESSION_NOT_FOUND",
    sessionId: id,
    message: `there is no session ${id} in ${path}; list the sessions to see which ones there are`,
    path
  })

export const takenMeanwhile = (path: string, id: SessionId) =>
  new PersistenceError({
    code: "SESSION_ALREADY_EXISTS",
    sessionId: id,
    message: `session ${id} was stored by another process meanwhile, in ${path}; choose another id`,
    path
  })

export const tornTail = (path: string, id: SessionId, found: number | undefined, left: number) =>
  new PersistenceError({
    code: "TORN_TAIL",
    sessionId: id,
    message:
      found === undefined
        ? `session ${id} is no longer in ${path}, where ${left} events of it were left; somebody deleted it`
        : `session ${id} in ${path} does not end where it was left, after ${left} events; another process may have ` +
          `written to it: close the session and resume it`,
    path
  })
