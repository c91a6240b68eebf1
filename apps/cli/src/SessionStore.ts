/**
 * Where sessions are kept: `$DSH_HOME/sessions` as plain text, or the database `$DSH_HOME/sessions.sqlite` when `DSH_SESSION_STORE` is
 * `sqlite`.
 */
import type { PersistenceError } from "@dsh/persistence/PersistenceError"
import type { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Failure from "./Failure.ts"
import * as HomeFolder from "./HomeFolder.ts"
import { asked, variable } from "./SessionStore/Choice.ts"
import * as Plain from "./SessionStore/Plain.ts"

export type SessionStore = Layer.Layer<
  SessionPersistence,
  PersistenceError | Failure.Failure,
  FileSystem.FileSystem | Path.Path
>

// Few want it, and it takes longer to load than all the rest.
const sqlite: SessionStore = Layer.unwrapEffect(
  Effect.gen(function* () {
    const file = yield* HomeFolder.database
    const { layer } = yield* Effect.promise(() => import("@dsh/persistence-sqlite/PersistenceSqlite"))
    return layer({ file })
  })
)

/** What the environment asks for. */
export const layer: SessionStore = Layer.suspend(() => {
  const choice = asked(process.env)
  if (choice === "jsonl") return Plain.layer
  if (choice === "sqlite") return sqlite
  return Layer.fail(Failure.configuration("INVALID_CONFIG", `${variable} is "${choice}"; it is either jsonl or sqlite`))
})
