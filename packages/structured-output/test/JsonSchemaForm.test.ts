// What an answer has to be: schemas that can be used and those that cannot, answers that fit and those that do not.
import * as JsonSchemaForm from "@dsh/structured-output/JsonSchemaForm"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

const person = {
  type: "object",
  properties: {
    name: { type: "string" },
    age: { type: "integer", minimum: 0 },
    born: { type: "string", format: "date" }
  },
  required: ["name"],
  additionalProperties: false
}

const judged = (answer: string, schema: unknown = person) =>
  Effect.map(JsonSchemaForm.make(schema), ({ judge }) => judge(answer))

describe("an answer", () => {
  const fitting: ReadonlyArray<readonly [what: string, answer: string, text: string]> = [
    ["that is the value", '{"name":"Ada","age":36}', '{"name":"Ada","age":36}'],
    ["with white space around it", '\n {"name":"Ada"}\n', '{"name":"Ada"}'],
    ["in a code fence", '```json\n{\n  "name": "Ada"\n}\n```', '{\n  "name": "Ada"\n}'],
    ["in a fence without a language", '```\r\n{"name":"Ada"}\r\n```', '{"name":"Ada"}']
  ]
  for (const [what, answer, text] of fitting) {
    it.effect(`${what} fits, and is handed on without what is around it`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* judged(answer), { fits: true, value: JSON.parse(text), text })
      })
    )
  }

  const wrong: ReadonlyArray<readonly [what: string, answer: string, message: RegExp]> = [
    ["prose", "Her name is Ada.", /: it is no JSON \(/],
    ["prose around it", 'Here you are: {"name":"Ada"}', /: it is no JSON \(/],
    ["nothing", "", /: it is no JSON \(/],
    ["another type", "[]", /: the value must be object$/],
    [
      "several faults",
      '{"age":-1,"shoe":43}',
      /required property 'name'.*additional properties \(shoe\).*\/age must be >= 0/
    ],
    ["another format", '{"name":"Ada","born":"1815"}', /: \/born must match format "date"$/]
  ]
  for (const [what, answer, message] of wrong) {
    it.effect(`that is ${what} does not, and the model is told why`, () =>
      Effect.gen(function* () {
        const verdict = yield* judged(answer)
        assert.isFalse(verdict.fits)
        if (verdict.fits) return
        assert.match(verdict.message, message)
        assert.include(verdict.complaint, verdict.message.replace("the answer does not fit its schema: ", ""))
      })
    )
  }

  it.effect("may be no object", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* judged("[1,2]", { type: "array", items: { type: "number" } }), {
        fits: true,
        value: [1, 2]
      })
      assert.deepInclude(yield* judged('"b"', { enum: ["a", "b"] }), { fits: true })
      const refused = yield* judged('"c"', { enum: ["a", "b"] })
      assert.deepInclude(refused, {
        message: 'the answer does not fit its schema: the value must be equal to one of the allowed values ("a", "b")'
      })
    })
  )
})

describe("a schema", () => {
  it.effect("is in the instruction as it is", () =>
    Effect.gen(function* () {
      const { instruction } = yield* JsonSchemaForm.make(person)
      assert.include(instruction, JSON.stringify(person))
    })
  )

  it.effect("of draft-07 is read as one", () =>
    Effect.gen(function* () {
      const $schema = "http://json-schema.org/draft-07/schema#"
      const pair = { $schema, type: "array", items: [{ type: "string" }, { type: "number" }] }
      assert.deepInclude(yield* judged('["a",1]', pair), { fits: true })
      assert.deepInclude(yield* judged('[1,"a"]', pair), { fits: false })
    })
  )

  const useless: ReadonlyArray<readonly [what: string, schema: unknown, why: RegExp]> = [
    ["no object", 7, /it is no JSON object/],
    ["a list", [], /it is no JSON object/],
    ["of an old draft", { $schema: "http://json-schema.org/draft-04/schema#" }, /draft 2020-12 or draft-07/],
    ["that breaks its own rules", { type: "objct" }, /schema is invalid: .*\/type must be equal/],
    ["with a type that is none", { properties: [] }, /schema is invalid/],
    ["that refers to what is nowhere", { $ref: "#/$defs/nobody" }, /can't resolve reference/],
    ["that refers to the network", { $ref: "https://example.com/schema.json" }, /can't resolve reference/],
    ["with a pattern that is none", { pattern: "(" }, /pattern|regular expression/i]
  ]
  for (const [what, schema, why] of useless) {
    it.effect(`${what} is refused`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(JsonSchemaForm.make(schema))
        assert.strictEqual(error.code, "INVALID_OUTPUT_SCHEMA")
        assert.match(error.message, why)
      })
    )
  }
})
