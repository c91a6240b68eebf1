/**
 * The database file: brought into being for the first session, opened for the first operation, and looked at before anything is done
 * to it, for it may be somebody else's.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { PersistenceError } from "@dsh/persistence/PersistenceError"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Connection from "./Connection.ts"
import { foreign, noWriteAhead, storageFailed, tooNew } from "./Failure.ts"
import * as Migrations from "./Migrations.ts"

export interface Database {
  readonly file: string
  /** Runs `use` with the database, which is created when there is none. `action` is for the error, as in "write to". */
  readonly use: <A>(action: string, use: Use<A>) => Effect.Effect<A, PersistenceError>
  /** Runs `use` with the database, or succeeds with `absent` when there is none. */
  readonly look: <A, B>(absent: B, use: Use<A>) => Effect.Effect<A | B, PersistenceError>
}

export type Use<A> = (connection: Connection.Connection) => Effect.Effect<A, SqlError | PersistenceError>

export const make = (
  fs: FileSystem.FileSystem,
  path: Path.Path,
  file: string
): Effect.Effect<Database, never, Scope.Scope> =>
  Effect.gen(function* () {
    // Made here, so that it closes after the sessions that are opened from now on, though the database is opened later than they are.
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    const oneAtATime = yield* Effect.makeSemaphore(1)
    let opened: Connection.Connection | undefined

    const create = Effect.gen(function* () {
      yield* fs.makeDirectory(path.dirname(file), { recursive: true, mode: 0o700 })
      // Never opens a file that is there: closing it again would take SQLite's locks on it away. The log beside it gets the same mode.
      yield* Effect.catchIf(
        fs.writeFile(file, new Uint8Array(), { flag: "wx", mode: 0o600 }),
        (error) => error._tag === "SystemError" && error.reason === "AlreadyExists",
        () => Effect.void
      )
    }).pipe(Effect.mapError(storageFailed("create", file)))

    // A scope of its own, so that an attempt that fails leaves nothing open.
    const open = Effect.gen(function* () {
      const attempt = yield* Scope.fork(scope, ExecutionStrategy.sequential)
      opened = yield* Connection.open(file).pipe(
        Effect.tap((connection) => prepare(connection, file)),
        Effect.mapError(orStorageFailed("open", file)),
        Scope.extend(attempt),
        Effect.onError((cause) => Scope.close(attempt, Exit.failCause(cause)))
      )
      return opened
    }).pipe(Effect.uninterruptible)

    const ready = (before: Effect.Effect<void, PersistenceError>) =>
      Effect.suspend(() =>
        opened !== undefined
          ? Effect.succeed(opened)
          : oneAtATime.withPermits(1)(
              Effect.suspend(() => (opened !== undefined ? Effect.succeed(opened) : Effect.zipRight(before, open)))
            )
      )

    const isThere = Effect.suspend(() => (opened !== undefined ? Effect.succeed(true) : fs.exists(file))).pipe(
      Effect.mapError(storageFailed("look for", file))
    )

    return {
      file,
      use: (action, use) =>
        Effect.flatMap(ready(create), (connection) => Effect.mapError(use(connection), orStorageFailed(action, file))),
      look: <A, B>(absent: B, use: Use<A>) =>
        Effect.gen(function* () {
          if (!(yield* isThere)) return absent
          const connection = yield* ready(Effect.void)
          return yield* Effect.mapError(use(connection), orStorageFailed("read", file))
        })
    }
  })

const orStorageFailed = (action: string, file: string) => (error: SqlError | PersistenceError) =>
  error._tag === "SqlError" ? storageFailed(action, file)(error) : error

/** Refuses what is not ours, then sets the connection up and brings the schema up to date. */
const prepare = (connection: Connection.Connection, file: string) =>
  Effect.gen(function* () {
    const { run, sql, transaction } = connection
    const application = yield* numberOf(run("PRAGMA application_id"))
    const version = yield* numberOf(run("PRAGMA user_version"))
    if (application !== Migrations.applicationId) {
      const isEmpty = (yield* numberOf(run("SELECT count(*) FROM sqlite_schema"))) === 0
      if (application !== 0 || !isEmpty) return yield* foreign(file)
    } else if (version > Migrations.schemaVersion) {
      return yield* tooNew(file, version, Migrations.schemaVersion)
    }
    for (const setting of settings) yield* run(`PRAGMA ${setting}`)
    const [mode] = yield* run("PRAGMA journal_mode = WAL")
    if (mode?.["journal_mode"] !== "wal") return yield* noWriteAhead(file)
    if (version === Migrations.schemaVersion) return
    yield* transaction({ sync: true }, Effect.provideService(Migrations.run, SqlClient, sql))
  })

const settings = [
  "busy_timeout = 5000",
  "foreign_keys = ON",
  // A database is data: nothing in its schema may run functions with effects.
  "trusted_schema = OFF",
  // On macOS a sync stops at the cache of the drive unless told otherwise.
  "fullfsync = ON",
  "checkpoint_fullfsync = ON"
]

/** The one number in the one row there is. */
const numberOf = (rows: ReturnType<Connection.Connection["run"]>) =>
  Effect.map(rows, ([row = {}]) => Number(Object.values(row)[0]))
