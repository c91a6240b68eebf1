import { describe, it } from "@effect/vitest"
import * as PersistenceContract from "@dsh/persistence/PersistenceContract"
import type { Storage } from "@dsh/persistence/PersistenceContract"
import * as PersistenceJsonl from "@dsh/persistence/PersistenceJsonl"
import * as PersistenceMemory from "@dsh/persistence/PersistenceMemory"
import { Effect, Layer } from "effect"
import * as Disk from "./support/Disk.ts"

const memory = Effect.sync((): Storage => {
  const store = new PersistenceMemory.MemoryStore()
  return { open: PersistenceMemory.make(store) }
})

const jsonl = (options: { readonly durability?: "strict"; readonly openFiles?: number }) =>
  Effect.gen(function* () {
    const disk = yield* Layer.build(Disk.layer)
    return {
      open: Effect.provide(
        Effect.flatMap(Disk.Disk, ({ root }) => PersistenceJsonl.make({ root, ...options })),
        disk
      )
    }
  })

describe.each([
  ["PersistenceMemory", memory],
  ["PersistenceJsonl", jsonl({})],
  ["PersistenceJsonl, strict, one open file", jsonl({ durability: "strict", openFiles: 1 })]
] as const)("%s", (_, storage) => {
  for (const { name, run } of PersistenceContract.cases) {
    it.scopedLive(name, () => Effect.flatMap(storage, run))
  }
})
