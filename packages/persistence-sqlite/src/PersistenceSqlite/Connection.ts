/**
 * One connection to the database, with transactions that can be relied on.
 *
 * The transactions of the client are not for us: they begin without the right to write, which another process may then get first, and
 * take a failing COMMIT (the disk is full) for a bug.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import { TransactionConnection } from "@effect/sql/SqlClient"
import type { SqlClient } from "@effect/sql/SqlClient"
import type * as SqlConnection from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Connection {
  readonly sql: SqlClient
  /** The rows of a statement that stands for itself, like a PRAGMA. */
  readonly run: (statement: string) => Effect.Effect<ReadonlyArray<SqlConnection.Row>, SqlError>
  /**
   * Stores all that `body` does with `sql`, or nothing of it when `body` fails. Nobody else writes to the database in between. `body`
   * must not wait for anything.
   *
   * What is committed survives the death of the process. With `sync` it survives a loss of power, too, and so does everything that was
   * committed before.
   */
  readonly transaction: <A, E>(
    options: { readonly sync: boolean },
    body: Effect.Effect<A, E>
  ) => Effect.Effect<A, E | SqlError>
}

/** Opens the database file, which must be there. Nothing is read or written yet. */
export const open = (filename: string): Effect.Effect<Connection, SqlError, Scope.Scope> =>
  Effect.map(client(filename), (sql) => ({
    sql,
    run: (statement) => Effect.scoped(Effect.flatMap(sql.reserve, (connection) => execute(connection, statement))),
    transaction: (options, body) =>
      Effect.scoped(Effect.flatMap(sql.reserve, (connection) => transaction(connection, options, body)))
  }))

const client = (filename: string) =>
  SqliteClient.make({ filename, disableWAL: true }).pipe(
    Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make),
    // The library throws where it should fail.
    Effect.catchAllDefect((cause) => new SqlError({ cause, message: "Failed to open database" }))
  )

const transaction = <A, E>(
  connection: SqlConnection.Connection,
  { sync }: { readonly sync: boolean },
  body: Effect.Effect<A, E>
): Effect.Effect<A, E | SqlError> =>
  // With a write-ahead log, a commit at NORMAL is written to the log and one at FULL syncs the log: all of it, since it is one file, and
  // what is no longer in the log was synced to the database before.
  execute(connection, `PRAGMA synchronous = ${sync ? "FULL" : "NORMAL"}`).pipe(
    Effect.zipRight(execute(connection, "BEGIN IMMEDIATE")),
    Effect.zipRight(
      body.pipe(
        Effect.provideService(TransactionConnection, [connection, 0] as const),
        Effect.zipLeft(execute(connection, "COMMIT")),
        // After some errors SQLite has done so itself, and says that there is nothing to roll back.
        Effect.onError(() => Effect.ignore(execute(connection, "ROLLBACK")))
      )
    ),
    Effect.uninterruptible,
    // Waiting for a database in use blocks the thread, so another connection of this process would wait for itself.
    Effect.withMaxOpsBeforeYield(Number.POSITIVE_INFINITY)
  )

// Not from the cache of prepared statements: some PRAGMAs take effect when they are prepared, and the cache keeps failures, too.
const execute = (connection: SqlConnection.Connection, statement: string) =>
  Effect.flatten(
    Effect.try({
      try: (): Effect.Effect<ReadonlyArray<SqlConnection.Row>, SqlError> =>
        connection.executeUnprepared(statement, [], undefined),
      catch: (cause) => new SqlError({ cause, message: "Failed to prepare statement" })
    })
  )
