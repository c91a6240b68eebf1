/**
 * Sessions in a database: apart from the others, for its driver takes longer to load than everything else.
 */
import * as Plugin from "@dsh/kernel/Plugin"
import * as PersistenceSqlite from "@dsh/persistence-sqlite/PersistenceSqlite"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Schema from "effect/Schema"

const sqlite = Plugin.make({
  name: "@dsh/persistence-sqlite/PersistenceSqlite",
  description: "Session logs in a database, with full-text search.",
  config: Schema.Struct({
    file: Schema.NonEmptyString.annotations({ description: "The database, on a local disk. Absolute." })
  }),
  provides: [SessionPersistence],
  requires: [FileSystem.FileSystem, Path.Path],
  layer: PersistenceSqlite.layer
})

export const plugins = [sqlite]
