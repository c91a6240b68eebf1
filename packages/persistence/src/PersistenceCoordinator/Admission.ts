/**
 * What may be stored: headers and batches that the same reader would accept back.
 */
import * as Json from "@dsh/kernel/Json"
import { eventAt, isRun, sizeOf } from "@dsh/protocol/ChunkRun"
import type { ChunkRun, LogEntry } from "@dsh/protocol/ChunkRun"
import type { SessionId } from "@dsh/protocol/Ids"
import * as LogCheck from "@dsh/protocol/LogCheck"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import * as Header from "@dsh/protocol/SessionHeader"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { runOfOne } from "../ChunkRow.ts"
import { PersistenceError } from "../PersistenceError.ts"

/** The header as it will be read back: of the current version, with a delegation depth. */
export const header = (given: SessionHeader): Effect.Effect<SessionHeader, PersistenceError> =>
  Effect.suspend(() => {
    const reason = headerProblem(given)
    const checked = LogCheck.header({ ...given, delegationDepth: given.delegationDepth ?? 0 })
    if (reason === undefined && Either.isRight(checked)) return Effect.succeed(checked.right)
    return new PersistenceError({
      code: "INVALID_SESSION_HEADER",
      sessionId: given.id,
      message: `session ${given.id} cannot be stored: ${reason ?? Either.getOrElse(Either.flip(checked), () => "")}`
    })
  })

const headerProblem = (given: SessionHeader): string | undefined => {
  if (given.version !== Header.formatVersion) {
    return `its header has version ${given.version}, this build writes version ${Header.formatVersion}`
  }
  const copy = Json.snapshot(given)
  return Either.isLeft(copy) ? copy.left.message : undefined
}

/**
 * The batch to store, or why it is refused. Nothing the caller does to its own objects afterwards can change it: what is not already frozen is copied.
 * Whether it continues the stored log is for whoever knows the log.
 */
export const batch = (id: SessionId, entries: ReadonlyArray<LogEntry>): ReadonlyArray<LogEntry> | PersistenceError => {
  const admitted: Array<LogEntry> = []
  let next = entries[0]?.seq ?? 0
  for (const entry of entries) {
    if (entry.seq !== next) return notContiguous(id, next, entry.seq)
    const checked = isRun(entry) ? run(id, entry) : event(id, entry)
    if (checked instanceof PersistenceError) return checked
    admitted.push(checked)
    next += sizeOf(entry)
  }
  return admitted
}

export const notContiguous = (id: SessionId, expected: number, found: number): PersistenceError =>
  new PersistenceError({
    code: "NOT_CONTIGUOUS",
    sessionId: id,
    message: `session ${id}: event ${found} cannot be stored where event ${expected} belongs; append in order and without gaps`
  })

const refuse = (id: SessionId, code: PersistenceError["code"], reason: string) =>
  new PersistenceError({ code, sessionId: id, message: `session ${id}: ${reason}` })

const run = (id: SessionId, entry: ChunkRun): LogEntry | PersistenceError => {
  const columns =
    entry.texts.length > 0 &&
    entry.texts.length === entry.times.length &&
    entry.times.every(Number.isSafeInteger) &&
    entry.texts.every((text) => typeof text === "string")
  // What the members share is checked on the first.
  const problem = columns ? LogCheck.problemOf(eventAt(entry, 0)) : "its columns do not fit"
  return problem === undefined ? entry : refuse(id, "INVALID_EVENT", `the run at ${entry.seq} is invalid: ${problem}`)
}

const event = (id: SessionId, entry: SessionEvent): LogEntry | PersistenceError => {
  // Thousands of deltas may be inherited: a run is a snapshot of its scalars, and cheaper than one of the event.
  const delta = runOfOne(entry)
  if (delta !== undefined) return run(id, delta)
  const copy: Either.Either<unknown, Json.NotLosslessJson> = isSnapshot(entry)
    ? Either.right(entry)
    : Json.snapshot(entry)
  if (Either.isLeft(copy)) return refuse(id, "NOT_LOSSLESS_JSON", `${entry.type}: ${copy.left.message}`)
  const problem = LogCheck.problemOf(copy.right)
  // A lossless snapshot has the shape of what it was taken from.
  return problem === undefined
    ? (copy.right as SessionEvent)
    : refuse(id, "INVALID_EVENT", `event ${entry.seq} is invalid: ${problem}`)
}

// What a live session hands out is a frozen lossless snapshot; taking another would double the cost of every event.
const isSnapshot = (entry: SessionEvent): boolean => Object.isFrozen(entry) && Object.isFrozen(entry.data)
