// Files that are kept open between writes, when there are more of them than may be open.
import * as Handles from "../src/PersistenceJsonl/Handles.ts"
import type * as FileSystem from "@effect/platform/FileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

describe("open files", () => {
  it.scoped("are not closed for others while somebody is about to use them", () =>
    Effect.gen(function* () {
      const handles = yield* Handles.make(1)
      const closed = new Set<string>()
      // As the system does, it takes its time.
      const opening = (name: string) =>
        Effect.acquireRelease(Effect.as(Effect.yieldNow(), { name } as unknown as FileSystem.File), () =>
          Effect.zipRight(
            Effect.yieldNow(),
            Effect.sync(() => closed.add(name))
          )
        )
      const use = (name: string) =>
        handles.use(name, opening(name), () =>
          Effect.zipRight(
            Effect.yieldNow(),
            Effect.sync(() => assert.isFalse(closed.has(name), `${name} is closed while it is used`))
          )
        )
      yield* use("old")
      const names = Array.from({ length: 20 }, (_, i) => `file ${i}`)
      yield* Effect.forEach(names, use, { concurrency: "unbounded", discard: true })
      assert.isAbove(closed.size, 0)
    })
  )
})
