import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Ids from "../src/Ids.ts"

describe("Ids", () => {
  it.effect("are random UUIDs by default", () =>
    Effect.gen(function* () {
      const ids = yield* Effect.replicateEffect(Ids.fresh, 100)
      assert.strictEqual(new Set(ids).size, 100)
      for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    })
  )

  it.effect("can be pinned", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* Effect.all([Ids.fresh, Ids.fresh]), ["id-1", "id-2"])
    }).pipe(Effect.provideService(Ids.IdSource, Ids.sequential("id")))
  )

  it("are plain strings at run time", () => {
    const SessionId = Ids.brand<Ids.Id<"SessionId">>()
    assert.strictEqual(SessionId("s"), "s")
  })
})
