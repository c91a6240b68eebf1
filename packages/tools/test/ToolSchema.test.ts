import type { Json } from "@dsh/kernel/Json"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, ParseResult, Schema } from "effect"
import * as ToolSchema from "../src/ToolSchema.ts"

const codec = <A, I>(parameters: Schema.Schema<A, I>) => ToolSchema.codec("t", parameters, Schema.String)
const parameters = <A, I>(schema: Schema.Schema<A, I>) => codec(schema).parameters
const property = <A, I>(schema: Schema.Schema<A, I>) => {
  const { properties } = parameters(Schema.Struct({ a: schema }))
  return (properties as Record<string, Json>)["a"]
}

const refusal = (make: () => unknown): string => {
  try {
    make()
  } catch (error) {
    if (error instanceof ToolSchema.UnsupportedSchema) {
      assert.strictEqual(error.code, "UNSUPPORTED_SCHEMA")
      return error.message
    }
    throw error
  }
  return assert.fail("the schema was accepted")
}

/** Every key of the JSON Schema, at any depth. */
const keywords = (schema: Json): ReadonlyArray<string> =>
  typeof schema !== "object" || schema === null || Array.isArray(schema)
    ? Array.isArray(schema)
      ? schema.flatMap(keywords)
      : []
    : Object.entries(schema).flatMap(([key, value]) =>
        key === "properties" ? Object.values(value as object).flatMap(keywords) : [key, ...keywords(value)]
      )

describe("ToolSchema, what the model is told", () => {
  it("a struct is an object with its required fields", () => {
    const told = parameters(
      Schema.Struct({
        path: Schema.String.annotations({ description: "Absolute." }),
        all: Schema.optional(Schema.Boolean)
      })
    )
    assert.deepStrictEqual(told, {
      type: "object",
      required: ["path"],
      properties: { path: { type: "string", description: "Absolute." }, all: { type: "boolean" } },
      additionalProperties: false
    })
  })

  it("no fields are an object without properties", () => {
    const none = { type: "object", properties: {}, additionalProperties: false }
    assert.deepStrictEqual(parameters(Schema.Struct({})), none)
    assert.deepStrictEqual(property(Schema.Struct({}).annotations({ description: "nothing" })), {
      ...none,
      description: "nothing"
    })
  })

  it("literals are enums, unions are oneOf, null is a type", () => {
    assert.deepStrictEqual(property(Schema.Literal("a", "b")), { type: "string", enum: ["a", "b"] })
    assert.deepStrictEqual(property(Schema.NullOr(Schema.String)), { oneOf: [{ type: "string" }, { type: "null" }] })
    assert.deepStrictEqual(property(Schema.Union(Schema.Struct({ a: Schema.Literal(1) }), Schema.Boolean)), {
      oneOf: [
        {
          type: "object",
          required: ["a"],
          properties: { a: { type: "number", enum: [1] } },
          additionalProperties: false
        },
        { type: "boolean" }
      ]
    })
  })

  it("arrays and maps from names tell what they hold, anything is an empty schema", () => {
    assert.deepStrictEqual(property(Schema.Array(Schema.Number)), { type: "array", items: { type: "number" } })
    assert.deepStrictEqual(property(Schema.Record({ key: Schema.String, value: Schema.Number })), {
      type: "object",
      required: [],
      properties: {},
      additionalProperties: { type: "number" }
    })
    assert.deepStrictEqual(property(Schema.Unknown), {})
  })

  it("limits are told in the description and never as keywords", () => {
    assert.deepStrictEqual(property(Schema.Int.pipe(Schema.between(1, 5))), {
      type: "integer",
      description: "a number between 1 and 5"
    })
    const limited = parameters(
      Schema.Struct({
        a: Schema.String.pipe(Schema.minLength(1), Schema.maxLength(9), Schema.pattern(/^x/)),
        b: Schema.Number.pipe(Schema.multipleOf(2), Schema.greaterThan(1), Schema.lessThanOrEqualTo(7)),
        c: Schema.Array(Schema.NonEmptyString).pipe(Schema.minItems(1), Schema.maxItems(2)),
        d: Schema.Date,
        e: Schema.optionalWith(Schema.Int, { default: () => 5 }),
        f: Schema.String.annotations({ title: "t", examples: ["x"], identifier: "Named/F" })
      })
    )
    const allowed = new Set(["type", "required", "properties", "additionalProperties", "items", "description"])
    assert.deepStrictEqual(
      keywords(limited).filter((key) => !allowed.has(key)),
      []
    )
    assert.deepStrictEqual(limited["required"], ["a", "b", "c", "d", "f"])
  })

  it("named schemas are told in place, whatever their name", () => {
    class Place extends Schema.Class<Place>("@dsh/tools/test~Place")({ line: Schema.Int }) {}
    const place = {
      type: "object",
      required: ["line"],
      properties: { line: { type: "integer", description: "an integer" } },
      additionalProperties: false
    }
    assert.deepStrictEqual(codec(Place).parameters, place)
    assert.deepStrictEqual(property(Schema.Array(Place)), { type: "array", items: place })
    const twice = parameters(Schema.Struct({ from: Place, to: Place }))
    assert.deepStrictEqual(twice["properties"], { from: place, to: place })
  })

  it("a description of the place wins over that of the named schema", () => {
    assert.deepStrictEqual(property(Schema.Int.annotations({ description: "Lines to show." })), {
      type: "integer",
      description: "Lines to show."
    })
  })
})

describe("ToolSchema, what cannot be told", () => {
  interface Tree {
    readonly children: ReadonlyArray<Tree>
  }
  const Tree = Schema.Struct({
    children: Schema.Array(Schema.suspend((): Schema.Schema<Tree> => Tree))
  }).annotations({ identifier: "Tree" })

  const cases: ReadonlyArray<readonly [name: string, make: () => unknown, reason: string]> = [
    ["a root that is no object", () => codec(Schema.String), "the schema at $ is not an object"],
    [
      "a union at the root",
      () => codec(Schema.Union(Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Schema.String }))),
      "the schema at $ is not an object"
    ],
    [
      "recursion",
      () => parameters(Schema.Struct({ tree: Tree })),
      "the schema at $.tree.children.items refers to itself"
    ],
    ["a tuple", () => property(Schema.Tuple(Schema.String)), 'the schema at $.a uses "prefixItems"'],
    [
      "a pattern for names",
      () => property(Schema.Record({ key: Schema.TemplateLiteral("x-", Schema.String), value: Schema.Number })),
      'the schema at $.a uses "patternProperties"'
    ],
    ["undefined", () => property(Schema.Undefined), 'the schema at $.a uses "not"'],
    [
      "JSON in a string",
      () => property(Schema.parseJson(Schema.Struct({}))),
      'the schema at $.a uses "contentMediaType"'
    ],
    [
      "a class of its own",
      () => property(Schema.DateFromSelf),
      "the schema at $ has no JSON Schema (Missing annotation"
    ],
    ["a bigint", () => property(Schema.BigIntFromSelf), "the schema at $ has no JSON Schema (Missing annotation"]
  ]
  for (const [name, make, reason] of cases) {
    it(`${name}`, () => assert.include(refusal(make), `tool "t": ${reason}`))
  }
})

describe("ToolSchema, validation", () => {
  const Args = Schema.Struct({
    path: Schema.String,
    limit: Schema.optional(Schema.Int.pipe(Schema.positive())),
    mode: Schema.optional(Schema.Literal("r", "w")),
    edits: Schema.optional(Schema.Array(Schema.Struct({ from: Schema.String })))
  })
  const { check, decodeArgs } = codec(Args)
  const decoded = (args: Json) => Effect.runSync(Effect.either(decodeArgs(args)))
  const message = (args: Json) => {
    const error = Either.getOrThrow(Either.flip(decoded(args)))
    assert.strictEqual(error.code, "INVALID_ARGS")
    return error.message
  }

  it("takes what fits, and leaves out what it does not know", () => {
    assert.deepStrictEqual(decoded({ path: "p", limit: 3, extra: true }), Either.right({ path: "p", limit: 3 }))
  })

  it("names every violation with its path", () => {
    assert.strictEqual(message({}), "invalid arguments for t: missing required path")
    assert.strictEqual(
      message({ path: 1, limit: 1.5, mode: "x", edits: [{ from: "a" }, {}] }),
      "invalid arguments for t: path: Expected string, actual 1; limit: Expected an integer, actual 1.5; " +
        'mode: Expected "r", actual "x"; mode: Expected "w", actual "x"; missing required edits.1.from'
    )
    assert.strictEqual(
      message({ path: "p", limit: -1 }),
      "invalid arguments for t: limit: Expected a positive number, actual -1"
    )
  })

  it("quotes no more of what was wrong than helps", () => {
    const long = message({ path: "p", limit: "x".repeat(10_000) })
    assert.isBelow(long.length, 600)
    assert.match(long, /…$/)
    const many = message({ path: "p", edits: Array.from({ length: 50 }, () => ({})) })
    assert.include(many, "missing required edits.9.from; and 40 more")
  })

  it("tells arguments that are no object what they have to be", () => {
    for (const args of ["", '{"path": "cut o', 5, null, true, [], [{}]]) {
      assert.include(message(args), "invalid arguments for t: they are not a JSON object; write one")
    }
    const none = codec(Schema.Struct({}))
    assert.isTrue(Either.isLeft(Effect.runSync(Effect.either(none.decodeArgs([])))))
    assert.isTrue(Either.isRight(Effect.runSync(Effect.either(none.decodeArgs({})))))
  })

  it("classifies only valid arguments, and never throws", () => {
    assert.isTrue(check({ path: "p" }, ({ path }) => path === "p"))
    assert.isFalse(check({ path: "p" }, () => false))
    assert.isFalse(check({ path: 5 }, () => true))
    assert.isFalse(check("no object", () => true))
    const broken = check({ path: "p" }, () => {
      throw new Error("no")
    })
    assert.isFalse(broken)
  })

  it("contains a schema whose transformation throws", () => {
    const throws = Schema.transform(Schema.String, Schema.String, {
      decode: (): string => {
        throw new Error("broken schema")
      },
      encode: (text) => text
    })
    const hostile = codec(Schema.Struct({ a: throws }))
    assert.isFalse(hostile.check({ a: "x" }, () => true))
    assert.strictEqual(Effect.runSyncExit(hostile.decodeArgs({ a: "x" }))._tag, "Failure")
  })

  const output = <V, VI>(schema: Schema.Schema<V, VI>) => ToolSchema.codec("t", Schema.Struct({}), schema)
  const failed = <A>(effect: Effect.Effect<A, { readonly code: string; readonly message: string }>) => {
    const { code, message: text } = Effect.runSync(Effect.flip(effect))
    assert.strictEqual(code, "INVALID_TOOL_OUTPUT")
    return text
  }

  it("encodes the value, and refuses one that does not fit its schema or is no JSON", () => {
    const when = output(Schema.Struct({ at: Schema.DateFromString }))
    assert.deepStrictEqual(Effect.runSync(when.encodeOutput({ at: new Date(0) })), { at: "1970-01-01T00:00:00.000Z" })
    assert.deepStrictEqual(Effect.runSync(when.decodeOutput({ at: "1970-01-01T00:00:00.000Z" })), { at: new Date(0) })
    assert.strictEqual(
      failed(when.decodeOutput({ at: 5 })),
      "t returned a value that does not fit its own output schema: at: Expected string, actual 5"
    )
    assert.include(failed(output(Schema.Int).encodeOutput(1.5)), "Expected an integer, actual 1.5")
    assert.include(failed(output(Schema.Unknown).encodeOutput({ a: [undefined] })), "$.a[0] is undefined")
    assert.include(failed(output(Schema.DateFromSelf).encodeOutput(new Date(0))), "$ is a class instance")
  })

  it("validates what is to be encoded the way it was parsed", () => {
    assert.isTrue(ParseResult.isParseError(Effect.runSync(Effect.flip(decodeArgs({ path: 1 }))).cause))
  })
})
