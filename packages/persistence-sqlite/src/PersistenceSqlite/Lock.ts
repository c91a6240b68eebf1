/**
 * One writer per session: a row that says which process has it open. A process that died leaves its row behind; the next one sees that
 * nobody is there and takes over. All of it inside of transactions, so nobody comes in between.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { PersistenceError } from "@dsh/persistence/PersistenceError"
import { isAlive, self } from "@dsh/persistence/ProcessOwner"
import type { Owner } from "@dsh/persistence/ProcessOwner"
import type { SessionId } from "@dsh/protocol/Ids"
import * as Effect from "effect/Effect"
import type { Connection } from "./Connection.ts"
import type { Database } from "./Database.ts"
import { notFound } from "./Failure.ts"
import * as SessionKey from "./SessionKey.ts"

interface OwnerRow extends Omit<Owner, "started"> {
  readonly started: string | null
}

/** Takes the lock of a stored session. Fails with `SESSION_IN_USE` when a living process has it. The caller releases it. */
export const take = (
  { sql, transaction }: Connection,
  id: SessionId,
  file: string
): Effect.Effect<void, SqlError | PersistenceError> =>
  transaction(
    { sync: false },
    Effect.gen(function* () {
      const key = SessionKey.of(id)
      const found = yield* sql`SELECT 1 FROM sessions WHERE id = ${key}`
      if (found.length === 0) return yield* notFound(file, id)
      const [row] = yield* sql<OwnerRow>`SELECT pid, host, started FROM locks WHERE session_id = ${key}`
      if (row !== undefined) {
        const { started, ...process } = row
        const owner = started === null ? process : { ...process, started }
        if (isAlive(owner)) return yield* inUse(id, file, owner)
      }
      yield* put(sql, id)
    })
  )

/** Writes the row, inside of a transaction. */
export const put = (sql: SqlClient, id: SessionId): Effect.Effect<void, SqlError> =>
  Effect.suspend(() => {
    const { host, pid, started } = self()
    const row = { session_id: SessionKey.of(id), pid, host, started: started ?? null }
    return Effect.asVoid(sql`INSERT OR REPLACE INTO locks ${sql.insert(row)}`)
  })

export const release = (database: Database, id: SessionId): Effect.Effect<void> =>
  database
    .use("release a lock in", ({ sql, transaction }) => {
      const { host, pid } = self()
      return transaction(
        { sync: false },
        sql`DELETE FROM locks WHERE session_id = ${SessionKey.of(id)} AND pid = ${pid} AND host = ${host}`
      )
    })
    .pipe(
      Effect.catchAll((error) =>
        Effect.logWarning(
          `the lock of session ${id} was left behind; it is taken for stale once this process has ended`,
          error
        )
      ),
      Effect.asVoid
    )

const inUse = (id: SessionId, file: string, owner: Owner) =>
  new PersistenceError({
    code: "SESSION_IN_USE",
    sessionId: id,
    message:
      owner.host === self().host
        ? `session ${id} is in use by process ${owner.pid}; end it, or work on a fork of the session`
        : `session ${id} is in use by process ${owner.pid} on ${owner.host}; end it, or delete the session's row in the ` +
          `table "locks" of ${file} if that machine is gone`,
    path: file
  })
