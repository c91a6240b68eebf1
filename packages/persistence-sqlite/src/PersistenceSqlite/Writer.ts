/**
 * Writes one session. A batch is one transaction, which first looks whether the log still ends where this writer left it.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as JsonlCodec from "@dsh/persistence/JsonlCodec"
import type { SessionWriter } from "@dsh/persistence/PersistenceBackend"
import { lengthOf } from "@dsh/persistence/StoredSession"
import { isRun } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { SessionId } from "@dsh/protocol/Ids"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import type { Database } from "./Database.ts"
import { takenMeanwhile, tornTail } from "./Failure.ts"
import * as Lock from "./Lock.ts"
import * as Rows from "./Rows.ts"
import * as SessionKey from "./SessionKey.ts"

/** Where a log ends. */
export interface Tail {
  /** The number of events. */
  readonly length: number
  /** The seq column of the last row; -1 when there is none. */
  readonly last: number
}

/** A writer for a session that is not stored yet. `onStored` hears when it is, and locked with that. */
export const fresh = (database: Database, header: SessionHeader, onStored: () => void): SessionWriter => {
  let stored: SessionWriter | undefined
  return {
    append: (entries, options) => {
      if (stored !== undefined) return stored.append(entries, options)
      const batch = batchOf(header.id, entries)
      const key = SessionKey.of(header.id)
      return database
        .use("create a session in", ({ sql, transaction }) =>
          transaction(
            options,
            Effect.gen(function* () {
              const found = yield* sql`SELECT 1 FROM sessions WHERE id = ${key}`
              if (found.length > 0) return yield* takenMeanwhile(database.file, header.id)
              const row = {
                id: key,
                header: JsonlCodec.encodeHeader(header).trimEnd(),
                length: 0,
                synced: 0,
                updated_at: 0
              }
              yield* sql`INSERT INTO sessions ${sql.insert(row)}`
              yield* Lock.put(sql, header.id)
              yield* insert(sql, batch, options.sync)
            })
          )
        )
        .pipe(
          Effect.map(() => {
            stored = behind(database, header.id, batch.tail)
            onStored()
          })
        )
    },
    sync: Effect.suspend(() => stored?.sync ?? Effect.void)
  }
}

/** A writer behind the end of a stored log. */
export const behind = (database: Database, id: SessionId, tail: Tail): SessionWriter => {
  const key = SessionKey.of(id)

  const check = (sql: SqlClient) =>
    Effect.gen(function* () {
      const [found] = yield* sql<Tail>`
        SELECT length, coalesce((SELECT max(seq) FROM events WHERE session_id = sessions.id), -1) AS last
        FROM sessions WHERE id = ${key}`
      if (found?.length !== tail.length || found.last !== tail.last) {
        return yield* tornTail(database.file, id, found?.length, tail.length)
      }
    })

  return {
    append: (entries, options) => {
      const batch = batchOf(id, entries)
      return database
        .use("write to", ({ sql, transaction }) =>
          transaction(options, Effect.zipRight(check(sql), insert(sql, batch, options.sync)))
        )
        .pipe(
          Effect.map(() => {
            tail = batch.tail
          })
        )
    },
    // A commit that changes nothing syncs nothing, not even an update that writes what is there. This one changes a number, unless
    // a commit that synced has set it to the same.
    sync: database.use("sync", ({ sql, transaction }) =>
      Effect.asVoid(transaction({ sync: true }, sql`UPDATE sessions SET synced = length WHERE id = ${key}`))
    )
  }
}

interface Batch {
  readonly key: string
  readonly rows: ReadonlyArray<Rows.Row>
  /** Where the log ends with this batch in it. */
  readonly tail: Tail
  /** Time of the last event. */
  readonly time: number
}

/** Rows and tail of `entries`, of which there must be some. */
export const batchOf = (id: SessionId, entries: ReadonlyArray<LogEntry>): Batch => {
  const rows = Rows.encode(entries)
  const [first, last] = [entries[0]!, entries[entries.length - 1]!]
  return {
    key: SessionKey.of(id),
    rows,
    tail: { length: first.seq + lengthOf(entries), last: rows[rows.length - 1]!.seq },
    time: isRun(last) ? last.times[last.times.length - 1]! : last.time
  }
}

/** Far below the number of values that one statement may have. */
const rowsAtOnce = 500

/** Stores a batch, inside of a transaction. */
export const insert = (
  sql: SqlClient,
  { key, rows, tail, time }: Batch,
  sync: boolean
): Effect.Effect<void, SqlError> =>
  Effect.gen(function* () {
    for (const some of Chunk.chunksOf(Chunk.unsafeFromArray(rows), rowsAtOnce)) {
      const values = Array.from(some, ({ record, seq }) => ({ session_id: key, seq, record }))
      yield* sql`INSERT INTO events ${sql.insert(values)}`
    }
    const counted = { length: tail.length, updated_at: time, ...(sync && { synced: tail.length }) }
    yield* sql`UPDATE sessions SET ${sql.update(counted)} WHERE id = ${key}`
  })
