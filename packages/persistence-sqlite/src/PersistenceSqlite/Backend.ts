/**
 * The ways into the database.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type { SqlClient } from "@effect/sql/SqlClient"
import * as JsonlCodec from "@dsh/persistence/JsonlCodec"
import type { PersistenceBackend } from "@dsh/persistence/PersistenceBackend"
import type { RawLog } from "@dsh/persistence/RawLog"
import type { PersistenceError } from "@dsh/persistence/PersistenceError"
import type { SessionListing, SessionSummary } from "@dsh/persistence/SessionPersistence"
import type { SessionId } from "@dsh/protocol/Ids"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Database } from "./Database.ts"
import { misplaced, notFound, unreadable } from "./Failure.ts"
import * as Lock from "./Lock.ts"
import * as Rows from "./Rows.ts"
import * as Rewrite from "./Rewrite.ts"
import * as SessionKey from "./SessionKey.ts"
import * as Writer from "./Writer.ts"

const encoder = new TextEncoder()

interface SessionRow {
  readonly id: string
  readonly header: string
  /** Derived from the events; somebody may have changed them by hand. */
  readonly length: number
  readonly updated_at: number
}

/** A session as it was read, and what its row says of its length. */
interface Read extends Rows.Log {
  readonly counted: number
}

export const make = (database: Database, fs: FileSystem.FileSystem): PersistenceBackend => {
  const { file } = database

  const headerOf = ({ header, id }: SessionRow): Either.Either<SessionHeader, PersistenceError> =>
    Either.flatMap(
      Either.mapLeft(JsonlCodec.decodeHeader(header), (problem) => unreadable(file, id, "its header", problem)),
      (decoded) =>
        SessionKey.of(decoded.id) === id ? Either.right(decoded) : Either.left(misplaced(file, id, decoded.id))
    )

  const rowsOf = (id: SessionId) =>
    database
      .look(undefined, ({ sql }) =>
        Effect.gen(function* () {
          const key = SessionKey.of(id)
          const [session] = yield* sql<SessionRow>`SELECT * FROM sessions WHERE id = ${key}`
          if (session === undefined) return undefined
          const rows = yield* sql<Rows.Row>`SELECT seq, record FROM events WHERE session_id = ${key} ORDER BY seq`
          return { session, rows }
        })
      )
      .pipe(Effect.flatMap((found) => (found === undefined ? notFound(file, id) : Effect.succeed(found))))

  const read = (id: SessionId): Effect.Effect<Read, PersistenceError> =>
    Effect.gen(function* () {
      const { rows, session } = yield* rowsOf(id)
      const header = yield* headerOf(session)
      const log = yield* Either.mapLeft(Rows.decode(header, rows), ({ problem, seq }) =>
        unreadable(file, id, `event ${seq}`, problem)
      )
      return { ...log, counted: session.length }
    })

  const raw = (id: SessionId): Effect.Effect<RawLog, PersistenceError> =>
    Effect.map(rowsOf(id), ({ rows, session }) => ({
      path: file,
      header: encoder.encode(session.header),
      records: rows.map(({ record, seq }) => ({ place: `the row of event ${seq}`, bytes: encoder.encode(record) })),
      rest: new Uint8Array()
    }))

  const lock = (id: SessionId) =>
    Effect.acquireRelease(
      Effect.flatMap(
        database.look("absent", (connection) => Lock.take(connection, id, file)),
        (outcome) => (outcome === "absent" ? notFound(file, id) : Effect.void)
      ),
      () => Lock.release(database, id)
    )

  return {
    locate: (id) =>
      database.look(undefined, ({ sql }) =>
        Effect.map(sql`SELECT 1 FROM sessions WHERE id = ${SessionKey.of(id)}`, ([found]) =>
          found === undefined ? undefined : {}
        )
      ),
    create: (header) =>
      Effect.gen(function* () {
        let locked = false
        yield* Effect.addFinalizer(() => (locked ? Lock.release(database, header.id) : Effect.void))
        return Writer.fresh(database, header, () => {
          locked = true
        })
      }),
    resume: (id) =>
      Effect.gen(function* () {
        yield* lock(id)
        const { counted, last, stored, torn } = yield* read(id)
        const tail = { length: stored.length, last }
        if (torn > 0 || counted !== stored.length) yield* cut(database, id, tail)
        return { stored, writer: Writer.behind(database, id, tail) }
      }),
    load: (id) => Effect.map(read(id), ({ stored }) => stored),
    hold: lock,
    raw,
    rewrite: (id, header, entries) =>
      Effect.flatMap(raw(id), (old) => Rewrite.rewrite(database, fs, { id, old, header, entries })),
    remove: (id) =>
      database.use("delete a session from", ({ sql, transaction }) =>
        Effect.asVoid(transaction({ sync: true }, sql`DELETE FROM sessions WHERE id = ${SessionKey.of(id)}`))
      ),
    list: database.look({ sessions: [], warnings: [] }, ({ sql }) => list(sql, headerOf))
  }
}

/** Makes the log end at `tail`. What is behind it is kept aside. */
const cut = (database: Database, id: SessionId, { last, length }: Writer.Tail) =>
  Effect.gen(function* () {
    const key = SessionKey.of(id)
    const now = yield* Clock.currentTimeMillis
    const torn = yield* database.use("cut the end of a session in", ({ sql, transaction }) =>
      transaction(
        { sync: true },
        Effect.gen(function* () {
          yield* sql`INSERT INTO torn (session_id, seq, record, cut_at)
            SELECT session_id, seq, record, ${now} FROM events WHERE session_id = ${key} AND seq > ${last} ORDER BY seq`
          yield* sql`UPDATE sessions SET length = ${length}, synced = ${length} WHERE id = ${key}`
          return yield* sql`DELETE FROM events WHERE session_id = ${key} AND seq > ${last} RETURNING seq`
        })
      )
    )
    if (torn.length === 0) return
    yield* Effect.logInfo(
      `session ${id} ended in ${torn.length} records that make no sense; they are kept in the table "torn" of ${database.file}`
    )
  })

const list = (sql: SqlClient, headerOf: (row: SessionRow) => Either.Either<SessionHeader, PersistenceError>) =>
  Effect.map(sql<SessionRow>`SELECT * FROM sessions ORDER BY updated_at DESC, id`, (rows): SessionListing => {
    const sessions: Array<SessionSummary> = []
    const warnings: Array<PersistenceError> = []
    for (const row of rows) {
      const header = headerOf(row)
      if (Either.isLeft(header)) warnings.push(header.left)
      else sessions.push({ header: header.right, length: row.length, updatedAt: row.updated_at })
    }
    return { sessions, warnings }
  })
