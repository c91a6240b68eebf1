/**
 * A real folder that is gone after the test, and a database file in it that others can get at as well.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as PersistenceSqlite from "@dsh/persistence-sqlite/PersistenceSqlite"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import { Context, Effect, Layer } from "effect"
import type { Scope } from "effect"
import * as Connection from "../../src/PersistenceSqlite/Connection.ts"

export class Place extends Context.Tag("test/Place")<Place, { readonly folder: string; readonly file: string }>() {}

const place = Layer.scoped(
  Place,
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* Effect.orDie(fs.makeTempDirectoryScoped({ prefix: "dsh-sqlite-" }))
    return { folder, file: `${folder}/home/sessions.db` }
  })
)

const persistence = Layer.unwrapEffect(Effect.map(Place, ({ file }) => PersistenceSqlite.layer({ file })))

export type Services = Place | FileSystem.FileSystem | SessionPersistence | Scope.Scope

/** Runs a test with persistence over a file that is not there yet. */
export const inPlace = <E>(test: Effect.Effect<void, E, Services>): Effect.Effect<void, E> =>
  Effect.scoped(test).pipe(
    Effect.provide(persistence.pipe(Layer.provideMerge(place), Layer.provideMerge(NodeContext.layer)))
  )

/** What `use` does with a connection of its own, as another program would. */
export const elsewhere = <A, E>(use: (connection: Connection.Connection) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(Place, ({ file }) => Effect.flatMap(Connection.open(file), use)))
