/**
 * `SessionPersistence` in one SQLite database: for those who keep thousands of sessions and want to ask questions about them.
 *
 * The records are those of the JSONL logs, one per row; the view `log` has their members as columns. Several processes may use one
 * database. It is private to the user (0600, in a folder of 0700), created with the first session and not opened before it is needed.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Coordinator from "@dsh/persistence/PersistenceCoordinator"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Backend from "./PersistenceSqlite/Backend.ts"
import * as Database from "./PersistenceSqlite/Database.ts"

export interface Options extends Coordinator.Options {
  /** The database file. It must be on a local disk: SQLite's locks do not work over a network. */
  readonly file: string
}

/**
 * Never fails: the first operation finds out whether the file can be used. `STORAGE_FAILED` when it is something else than a database of
 * ours, `UNSUPPORTED_FORMAT` when a newer dsh wrote it, `CORRUPT_LOG` when it is damaged.
 */
export const make = ({
  file,
  ...options
}: Options): Effect.Effect<SessionPersistence["Type"], never, FileSystem.FileSystem | Path.Path | Scope.Scope> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const database = yield* Database.make(fs, path, path.resolve(file))
    return yield* Coordinator.make(Backend.make(database, fs), options)
  })

export const layer = (options: Options): Layer.Layer<SessionPersistence, never, FileSystem.FileSystem | Path.Path> =>
  Layer.scoped(SessionPersistence, make(options))
