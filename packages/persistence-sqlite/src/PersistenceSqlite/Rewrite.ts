/**
 * Puts another log in the place of a stored one, which is kept as a file of lines beside the database. Whoever does it holds the
 * session's lock.
 */
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as JsonlCodec from "@dsh/persistence/JsonlCodec"
import type { PersistenceError } from "@dsh/persistence/PersistenceError"
import type { RawLog } from "@dsh/persistence/RawLog"
import * as SessionPath from "@dsh/persistence/SessionPath"
import { lengthOf } from "@dsh/persistence/StoredSession"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { SessionId } from "@dsh/protocol/Ids"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Effect from "effect/Effect"
import type { Database } from "./Database.ts"
import { storageFailed } from "./Failure.ts"
import * as SessionKey from "./SessionKey.ts"
import * as Writer from "./Writer.ts"

export interface Replacement {
  readonly id: SessionId
  readonly old: RawLog
  readonly header: SessionHeader
  readonly entries: ReadonlyArray<LogEntry>
}

/** Succeeds with the name of the file that keeps the old log. */
export const rewrite = (
  database: Database,
  fs: FileSystem.FileSystem,
  { entries, header, id, old }: Replacement
): Effect.Effect<string, PersistenceError> =>
  Effect.gen(function* () {
    const beside = `${database.file}.${SessionPath.segment(id) ?? "session"}.backup`
    const backup = yield* Effect.mapError(
      keep(fs, beside, old),
      storageFailed("keep the old log beside", database.file)
    )
    const key = SessionKey.of(id)
    yield* database.use("repair a session in", ({ sql, transaction }) =>
      transaction(
        { sync: true },
        Effect.gen(function* () {
          const length = lengthOf(entries)
          const row = { header: JsonlCodec.encodeHeader(header).trimEnd(), length, synced: length }
          yield* sql`DELETE FROM events WHERE session_id = ${key}`
          yield* sql`UPDATE sessions SET ${sql.update(row)} WHERE id = ${key}`
          if (entries.length > 0) yield* Writer.insert(sql, Writer.batchOf(id, entries), true)
        })
      )
    )
    return backup
  })

/** As lines, under the first of such names that is free. */
const keep = (
  fs: FileSystem.FileSystem,
  beside: string,
  log: RawLog,
  number = 1
): Effect.Effect<string, PlatformError> => {
  const file = `${beside}-${number}.jsonl`
  return Effect.scoped(
    Effect.gen(function* () {
      const opened = yield* fs.open(file, { flag: "wx", mode: 0o600 })
      const lines = [log.header, ...Array.from(log.records, ({ bytes }) => bytes)]
      yield* opened.writeAll(Buffer.concat(lines.flatMap((line) => [line, newline])))
      yield* opened.sync
      return file
    })
  ).pipe(
    Effect.catchIf(
      (error) => error._tag === "SystemError" && error.reason === "AlreadyExists",
      () => keep(fs, beside, log, number + 1)
    )
  )
}

const newline = new Uint8Array([10])
