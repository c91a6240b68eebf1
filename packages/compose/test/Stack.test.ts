// Layers of patches over nothing: who wins, what is skipped, and where everything comes from.
import { assert, describe, it } from "@effect/vitest"
import type { Entry, PatchLayer, Row } from "../src/Row.ts"
import * as Rows from "../src/Row.ts"
import { stack } from "../src/Stack.ts"

const layer = (source: string, ...entries: ReadonlyArray<Entry>): PatchLayer => ({ source, entries })
const configure = (id: string, config: unknown, name?: string): Entry => ({
  kind: "change",
  id,
  name,
  changes: { config }
})
const bundle = Rows.rows("bundle", [
  { id: "a", name: "clock", config: { zone: "UTC", digits: 4 } },
  { id: "g", group: [{ id: "b", name: "lamp" }] }
])

describe("a stack of layers", () => {
  it("gives the last word to the last, who replaces the whole configuration", () => {
    const { rows } = stack([
      bundle,
      layer("profile", configure("a", { zone: "CET" })),
      layer("home", configure("a", { zone: "EST", digits: 6 })),
      layer("--patch", configure("a", { zone: "JST" }))
    ])
    assert.deepStrictEqual(rows[0]?.config, { zone: "JST" })
    assert.deepStrictEqual(
      rows[0]?.patched.map(({ source }) => source),
      ["profile", "home", "--patch"]
    )
    assert.strictEqual(rows[0]?.configuredAt.source, "--patch")
  })

  it("leaves the keys alone that an entry does not name", () => {
    const { rows } = stack([bundle, layer("p", { kind: "change", id: "a", changes: { disabled: true } })])
    assert.deepInclude(rows[0], { disabled: true, name: "clock", config: { zone: "UTC", digits: 4 } })
  })

  it("takes rows into groups, and changes of rows that an earlier layer inserted", () => {
    const inserted: Row = { id: "c", name: "house" }
    const { notices, rows } = stack([
      bundle,
      layer("p", { kind: "insert", into: "g", rows: [inserted] }),
      layer("q", configure("c", { rooms: 3 }), configure("b", { watts: 40 }))
    ])
    assert.deepStrictEqual(
      rows[1]?.children?.map(({ config, id }) => [id, config]),
      [
        ["b", { watts: 40 }],
        ["c", { rooms: 3 }]
      ]
    )
    assert.deepStrictEqual(notices, [])
  })

  it("skips what it cannot apply, and says so", () => {
    const { notices, problems, rows } = stack([
      bundle,
      layer(
        "p.yml",
        configure("clocks", {}),
        configure("a", {}, "sundial"),
        { kind: "insert", into: "nowhere", rows: [] },
        { kind: "insert", into: "a", rows: [{ id: "x", name: "lamp" }], line: 7 }
      )
    ])
    assert.deepStrictEqual(problems, [])
    assert.deepStrictEqual(notices, [
      'p.yml: there is no row "clocks"; it knows a, g, b; the entry was skipped',
      'p.yml: row "a" is clock, not sundial; the entry was skipped',
      'p.yml: there is no row "nowhere"; it knows a, g, b; the entry was skipped',
      'p.yml:7: row "a" is no group, so nothing can be inserted into it; the entry was skipped'
    ])
    assert.deepStrictEqual(rows[0]?.config, { zone: "UTC", digits: 4 })
  })

  it("of nothing is nothing", () => {
    assert.deepStrictEqual(stack([]), { rows: [], notices: [], problems: [] })
    assert.lengthOf(stack([bundle, layer("empty")]).rows, 2)
  })
})
