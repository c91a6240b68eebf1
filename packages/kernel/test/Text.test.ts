import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import * as Text from "../src/Text.ts"

// One unit of every size, both halves of a pair alone, and pairs that a careless cut would split.
const text = fc.string({ unit: fc.constantFrom("a", "é", "€", "😀", "\ud83d", "\ude00"), maxLength: 24 })
const limit = fc.integer({ min: -2, max: 60 })

const encoded = (value: string) => new TextEncoder().encode(value)
const units = (value: string) => value.length
const bytes = (value: string) => encoded(value).length

/** The longest run of whole code points from the front that weighs at most `max`. */
const prefix = (value: string, max: number, weigh: (point: string) => number): string => {
  let out = ""
  let weight = 0
  for (const point of value) {
    weight += weigh(point)
    if (weight > max) break
    out += point
  }
  return out
}

const suffix = (value: string, max: number, weigh: (point: string) => number): string => {
  const points = [...value]
  let start = points.length
  let weight = 0
  while (start > 0 && (weight += weigh(points[start - 1]!)) <= max) start--
  return points.slice(start).join("")
}

describe("Text", () => {
  it.prop("byteLength is what an encoder writes", [text], ([value]) => {
    assert.strictEqual(Text.byteLength(value), bytes(value))
  })

  it.prop("head is the longest prefix of whole code points that fits", [text, limit], ([value, max]) => {
    assert.strictEqual(Text.head(value, max), prefix(value, max, units))
  })

  it.prop("tail is the longest suffix of whole code points that fits", [text, limit], ([value, max]) => {
    assert.strictEqual(Text.tail(value, max), suffix(value, max, units))
  })

  it.prop("headBytes is the longest prefix that fits the budget", [text, limit], ([value, max]) => {
    assert.strictEqual(Text.headBytes(value, max), prefix(value, max, bytes))
  })

  it.prop("tailBytes is the longest suffix that fits the budget", [text, limit], ([value, max]) => {
    assert.strictEqual(Text.tailBytes(value, max), suffix(value, max, bytes))
  })

  it.prop("ellipsis keeps its limit, marks a cut and leaves the rest alone", [text, limit], ([value, max]) => {
    const out = Text.ellipsis(value, max)
    assert.isAtMost(out.length, Math.max(0, max))
    if (value.length <= max) assert.strictEqual(out, value)
    else if (max > 0) assert.strictEqual(out, `${prefix(value, max - 1, units)}…`)
  })

  it.prop("wellFormed does what an encoder does", [text], ([value]) => {
    assert.strictEqual(Text.wellFormed(value), new TextDecoder().decode(encoded(value)))
  })

  it("takes fractions down and no limit as no limit", () => {
    assert.strictEqual(Text.head("abc", 2.9), "ab")
    assert.strictEqual(Text.tail("abc", 2.9), "bc")
    assert.strictEqual(Text.headBytes("abc", 2.9), "ab")
    assert.strictEqual(Text.tailBytes("abc", 2.9), "bc")
    for (const cut of [Text.head, Text.tail, Text.headBytes, Text.tailBytes, Text.ellipsis]) {
      assert.strictEqual(cut("abc", Number.POSITIVE_INFINITY), "abc")
    }
  })
})
