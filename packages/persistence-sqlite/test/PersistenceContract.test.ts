import { describe, it } from "@effect/vitest"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as PersistenceContract from "@dsh/persistence/PersistenceContract"
import * as PersistenceSqlite from "@dsh/persistence-sqlite/PersistenceSqlite"
import { Effect } from "effect"

/** Every `open` has a connection of its own, as another process would. */
const storage = (options: { readonly durability?: "strict" }) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* Effect.orDie(fs.makeTempDirectoryScoped({ prefix: "dsh-sqlite-" }))
    const file = `${folder}/home/sessions.db`
    return { open: Effect.provide(PersistenceSqlite.make({ file, ...options }), NodeContext.layer) }
  }).pipe(Effect.provide(NodeContext.layer))

describe.each([
  ["PersistenceSqlite", {}],
  ["PersistenceSqlite, strict", { durability: "strict" }]
] as const)("%s", (_, options) => {
  for (const { name, run } of PersistenceContract.cases) {
    it.scopedLive(name, () => Effect.flatMap(storage(options), run))
  }
})
