// The presets of the product: what runs is what their folders say.
import * as PresetFolder from "@dsh/compose/PresetFolder"
import { folder } from "@dsh/presets"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Shipped from "../src/Shipped.ts"

const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, item: unknown) => (key === "line" || key === "extendsLine" ? undefined : item))
  )

describe("a shipped preset", () => {
  it.effect("is what its folder says", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Shipped.folder, folder)
      const found = yield* PresetFolder.list(folder)
      assert.deepStrictEqual(
        found.map(({ id }) => id),
        Object.keys(Shipped.presets).sort()
      )
      for (const each of found) {
        assert.deepStrictEqual(plain(yield* PresetFolder.read(each)), plain(Shipped.presets[each.id]), each.id)
      }
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )
})
