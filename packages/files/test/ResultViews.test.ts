import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ResultViews from "../src/ResultViews.ts"
import { edit, folder, read, tools, write } from "./support.ts"

describe("ResultViews", () => {
  it.scopedLive("come from what was logged", () =>
    Effect.gen(function* () {
      const { at } = yield* folder
      const path = at("f")
      const created = yield* write(path, "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
      assert.deepStrictEqual(ResultViews.diff(created.meta), {
        view: "diff",
        diffs: [{ path, oldText: null, newText: "1\n2\n3\n4\n5\n6\n7\n8\n9\n" }]
      })
      const edited = yield* edit(path, "5", "five\nfive")
      assert.deepStrictEqual(ResultViews.diff(edited.meta), {
        view: "diff",
        diffs: [{ path, oldText: "2\n3\n4\n5\n6\n7\n8", newText: "2\n3\n4\nfive\nfive\n6\n7\n8" }]
      })
      const shown = yield* read(path, { offset: 2, limit: 3 })
      assert.deepStrictEqual(ResultViews.read(shown.meta), { view: "read", path, offset: 2, lines: 3, totalLines: 10 })
      const large = yield* write(at("large"), "x".repeat(100_000))
      assert.isUndefined(ResultViews.diff(large.meta))
      assert.isBelow(JSON.stringify(large.meta).length, 1000)
    }).pipe(Effect.provide(tools))
  )

  it("answer nothing to what they do not understand", () => {
    for (const meta of [undefined, null, 1, [], {}, { diff: 1 }, { diff: { path: "f" } }, { read: { path: "f" } }]) {
      assert.isUndefined(ResultViews.diff(meta))
      assert.isUndefined(ResultViews.read(meta))
    }
  })
})
