import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck as fc } from "effect"
import { isDeepStrictEqual } from "node:util"
import { runInNewContext } from "node:vm"
import * as Json from "../src/Json.ts"

const accepted = (value: unknown): Json.Json => Either.getOrThrow(Json.snapshot(value))

const refused = (value: unknown): string => {
  const error = Either.getOrThrow(Either.flip(Json.snapshot(value)))
  assert.strictEqual(error.code, "NOT_LOSSLESS_JSON")
  return `${error.path} ${error.reason}`
}

const json: fc.Arbitrary<Json.Json> = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)))

const anything = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true
})

const containers = (value: Json.Json): ReadonlyArray<object> =>
  typeof value === "object" && value !== null ? [value, ...Object.values(value).flatMap(containers)] : []

describe("Json.snapshot", () => {
  describe("accepts", () => {
    it("scalars as they are", () => {
      for (const value of ["", "text", "\ud800", 0, -1.5, 1e308, true, false, null]) {
        assert.strictEqual(accepted(value), value)
      }
    })

    it("objects without a prototype, and gives back ordinary ones", () => {
      const source: unknown = Object.assign(Object.create(null), { a: [Object.create(null)] })
      const copy = accepted(source)
      assert.isTrue(isDeepStrictEqual(copy, { a: [{}] }))
    })

    it("objects and arrays of another realm", () => {
      const copy = accepted(runInNewContext("({ list: [1, { deep: true }], none: null })"))
      assert.isTrue(isDeepStrictEqual(copy, { list: [1, { deep: true }], none: null }))
    })

    it("a literal __proto__ key as data", () => {
      const copy = accepted(JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'))
      assert.strictEqual(JSON.stringify(copy), '{"__proto__":{"polluted":true},"constructor":1}')
      assert.strictEqual(Object.getPrototypeOf(copy), Object.prototype)
      assert.notProperty({}, "polluted")
    })

    it("one object in two places, as two", () => {
      const shared = { a: 1 }
      const copy = accepted([shared, { again: shared }])
      assert.isTrue(isDeepStrictEqual(copy, [{ a: 1 }, { again: { a: 1 } }]))
    })

    it("a getter, which it reads once", () => {
      let reads = 0
      const source = {
        get a() {
          return { read: ++reads }
        }
      }
      assert.isTrue(isDeepStrictEqual(accepted(source), { a: { read: 1 } }))
      assert.strictEqual(reads, 1)
    })

    it("100 000 levels, of objects and of arrays", () => {
      let arrays: Json.Json = []
      let objects: Json.Json = {}
      for (let i = 1; i < 100_000; i++) {
        arrays = [arrays]
        objects = { in: objects }
      }
      for (const source of [arrays, objects]) {
        let depth = 0
        for (let at: unknown = accepted(source); typeof at === "object" && at !== null; at = Object.values(at)[0])
          depth++
        assert.strictEqual(depth, 100_000)
      }
    })
  })

  describe("refuses", () => {
    const cyclic: { self?: unknown; list: Array<unknown> } = { list: [] }
    cyclic.list.push({ back: cyclic })
    const decorated = Object.assign([1], { extra: true })
    const holed = [1, 2, 3]
    Reflect.deleteProperty(holed, 1)
    const holeAndExtra = Object.assign([...decorated, 2], { extra: true })
    Reflect.deleteProperty(holeAndExtra, 0)
    class Point {
      x = 1
    }
    class List extends Array<number> {}

    const cases: ReadonlyArray<readonly [name: string, value: unknown, reason: string]> = [
      ["undefined", undefined, "$ is undefined"],
      ["an undefined member", { a: undefined }, "$.a is undefined"],
      ["an undefined item", { a: [1, undefined] }, "$.a[1] is undefined"],
      ["a function", { a: () => 1 }, "$.a is a function"],
      ["a symbol", [Symbol("s")], "$[0] is a symbol"],
      ["a bigint", { a: { b: 1n } }, "$.a.b is a bigint"],
      ["NaN", [Number.NaN], "$[0] is NaN"],
      ["infinity", [Number.NEGATIVE_INFINITY], "$[0] is -Infinity"],
      ["-0", { a: -0 }, "$.a is -0"],
      ["a hole", { a: holed }, "$.a is a sparse array or an array with extra properties"],
      ["a hole at the end", new Array<number>(3), "$ is a sparse array or an array with extra properties"],
      ["an array with a property", { a: decorated }, "$.a is a sparse array or an array with extra properties"],
      ["a hole made up for by a property", holeAndExtra, "$ is a sparse array or an array with extra properties"],
      ["a class instance", { a: new Point() }, "$.a is a class instance"],
      ["an array of a class", { a: List.from([1]) }, "$.a is a class instance"],
      ["a Date", new Date(0), "$ is a class instance"],
      ["a Map", [new Map()], "$[0] is a class instance"],
      ["an error", { a: new Error("x") }, "$.a is a class instance"],
      ["a boxed number", { a: Object(1) }, "$.a is a class instance"],
      ["a custom prototype", Object.create(Object.create(null, { a: { value: 1 } })), "$ has a custom prototype"],
      ["an inherited object", Object.create({ a: 1 }), "$ is a class instance"],
      ["a Date of another realm", runInNewContext("[new Date(0)]"), "$[0] is a class instance"],
      ["a symbol key", { a: { [Symbol.for("k")]: 1 } }, "$.a has symbol keys"],
      ["a symbol key on an array", [Object.assign([], { [Symbol.for("k")]: 1 })], "$[0] has symbol keys"],
      ["a hidden key", Object.defineProperty({}, "a", { value: 1 }), "$.a is not enumerable"],
      ["a cycle", cyclic, "$.list[0].back is a cycle"],
      ["toJSON, which is not asked", { toJSON: () => 1 }, "$.toJSON is a function"],
      [
        "a getter that throws",
        {
          get a() {
            throw new Error("no")
          }
        },
        "$ threw while being read"
      ]
    ]
    for (const [name, value, reason] of cases) it(`${name}`, () => assert.strictEqual(refused(value), reason))

    it("with a path that stays readable, however deep the mistake is", () => {
      let deep: unknown = Number.NaN
      for (let i = 0; i < 100_000; i++) deep = { in: deep }
      assert.match(refused(deep), /^\$…[.in]{500} is NaN$/)
    })

    it("and says what to pass instead", () => {
      const { message } = Either.getOrThrow(Either.flip(Json.snapshot({ when: new Date(0) })))
      assert.strictEqual(
        message,
        "$.when is a class instance; pass plain JSON data (strings, finite numbers, booleans, null, arrays, plain objects)"
      )
    })
  })

  it.prop("copies JSON: equal, frozen throughout, nothing shared", [json], ([source]) => {
    const copy = accepted(source)
    assert.isTrue(isDeepStrictEqual(copy, source))
    const originals = new Set(containers(source))
    for (const container of containers(copy)) {
      assert.isTrue(Object.isFrozen(container))
      assert.isFalse(originals.has(container))
    }
  })

  it.prop("accepts nothing that a round trip would change", [anything], ([source]) => {
    const copy = Json.snapshot(source)
    if (Either.isLeft(copy)) return
    const text = JSON.stringify(copy.right)
    assert.strictEqual(text, JSON.stringify(source))
    assert.isTrue(isDeepStrictEqual(JSON.parse(text), copy.right))
  })
})

describe("Json.equals", () => {
  it.prop("is structural equality", [json, json], ([a, b]) => {
    assert.isTrue(Json.equals(a, accepted(a)))
    assert.strictEqual(Json.equals(a, b), isDeepStrictEqual(a, b))
    assert.strictEqual(Json.equals(a, b), Json.equals(b, a))
  })

  it("ignores the order of keys and knows missing from null", () => {
    assert.isTrue(Json.equals({ a: 1, b: [2] }, { b: [2], a: 1 }))
    assert.isFalse(Json.equals({ a: null }, {}))
    assert.isFalse(Json.equals({ a: 1 }, { b: 1 }))
    assert.isFalse(Json.equals([], {}))
    assert.isFalse(Json.equals([1, 2], [2, 1]))
    assert.isFalse(Json.equals(undefined, null))
    assert.isFalse(Json.equals({ hasOwnProperty: 1 }, { toString: 1 }))
  })
})
