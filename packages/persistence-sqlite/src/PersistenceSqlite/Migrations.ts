/**
 * What is in the database, version by version. A version that was released is never edited; a new one is added.
 */
import * as Migrator from "@effect/sql/Migrator"
import { SqlClient } from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"

/** Marks a database as ours; "dsh1". */
export const applicationId = 0x64736831

/** The version of the schema that this build reads and writes: the number of the last migration. */
export const schemaVersion = 1

const sessions = Effect.gen(function* () {
  const sql = yield* SqlClient
  // `header` and `record` are the lines of a JSONL log. `length` and `updated_at` are derived from the events, so that listing sessions
  // reads none of them; `synced` says how many events would survive a loss of power.
  yield* sql`CREATE TABLE sessions (
    id TEXT PRIMARY KEY NOT NULL,
    header TEXT NOT NULL,
    length INTEGER NOT NULL,
    synced INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT`
  yield* sql`CREATE TABLE events (
    session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
    seq INTEGER NOT NULL CHECK (seq >= 0),
    record TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
  ) STRICT`
  yield* sql`CREATE TABLE locks (
    session_id TEXT PRIMARY KEY NOT NULL REFERENCES sessions ON DELETE CASCADE,
    pid INTEGER NOT NULL,
    host TEXT NOT NULL,
    started TEXT
  ) STRICT`
  // What was cut off the end of a log because it made no sense.
  yield* sql`CREATE TABLE torn (
    number INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    record TEXT NOT NULL,
    cut_at INTEGER NOT NULL
  ) STRICT`
  yield* sql`CREATE VIEW log AS SELECT
    session_id,
    seq,
    record ->> 'type' AS type,
    coalesce(record ->> 'time', record ->> 'time0') AS time,
    record -> 'data' AS data
  FROM events`
  yield* sql`PRAGMA application_id = ${sql.literal(String(applicationId))}`
  yield* sql`PRAGMA user_version = 1`
})

const migrate = Migrator.make({})({ loader: Migrator.fromRecord({ "1_sessions": sessions }), table: "migrations" })

/** Brings the database up to `schemaVersion`. Runs inside of a transaction. */
export const run: Effect.Effect<void, SqlError, SqlClient> = migrate.pipe(
  Effect.asVoid,
  // The library takes a migration that fails for a bug; a full disk is none.
  Effect.catchAllDefect((defect) =>
    defect instanceof Migrator.MigrationError ? Effect.fail(defect) : Effect.die(defect)
  ),
  Effect.mapError((error) =>
    error._tag === "SqlError"
      ? error
      : error.cause instanceof SqlError
        ? error.cause
        : new SqlError({ cause: error, message: error.message })
  )
)
