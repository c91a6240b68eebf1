import { assert, describe, it } from "@effect/vitest"
import * as LogCheck from "@dsh/protocol/LogCheck"
import * as Schemas from "@dsh/protocol/Schemas"
import * as Arbitrary from "effect/Arbitrary"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as JSONSchema from "effect/JSONSchema"
import * as Schema from "effect/Schema"

const viaJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const isEvent = Schema.is(Schema.Union(Schemas.CoreEvent, Schemas.ExtensionEvent))

const stored = Arbitrary.make(Schemas.CoreEvent).map(viaJson)

/** Every place in a JSON value that can be written to. */
const places = (value: unknown): ReadonlyArray<readonly [holder: object, key: string]> =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([key, child]) => [[value, key] as const, ...places(child)])

const damaged = FastCheck.tuple(
  stored,
  FastCheck.nat(),
  FastCheck.constantFrom<unknown>(
    undefined,
    null,
    true,
    false,
    -1,
    1.5,
    7,
    "",
    "text",
    "hook",
    "tool-result",
    [],
    {},
    [3]
  )
).map(([original, at, value]) => {
  const event = viaJson(original)
  const found = places(event)
  const [holder, key] = found[at % found.length]!
  if (value === undefined && !Array.isArray(holder)) Reflect.deleteProperty(holder, key)
  else Reflect.set(holder, key, value ?? null)
  return event
})

describe("LogCheck", () => {
  it.prop("accepts every core event", [stored], ([event]) => assert.isUndefined(LogCheck.problemOf(event)), {
    fastCheck: { numRuns: 500 }
  })

  it.prop(
    "agrees with the schemas about damaged events",
    [damaged],
    ([event]) => assert.strictEqual(LogCheck.problemOf(event) === undefined, isEvent(event), JSON.stringify(event)),
    { fastCheck: { numRuns: 1000 } }
  )

  it("names the member that is wrong", () => {
    assert.strictEqual(
      LogCheck.problemOf({
        type: "tool/result",
        seq: 3,
        time: 1,
        data: {
          turn: 1,
          step: 1,
          message: {
            id: "m",
            role: "user",
            content: [{ type: "tool-result", toolCallId: "a", content: [{ type: "text" }] }],
            source: { kind: "tool", callId: "a" }
          }
        },
        surfaceOp: "append"
      }),
      "data of tool/result: message: content[0]: content[0]: text is not a string"
    )
  })

  it("refuses members that no envelope has, and lets unknown types pass", () => {
    const event = { type: "acme/thing", seq: 0, time: 0, data: ["anything"] }
    assert.isUndefined(LogCheck.problemOf(event))
    assert.strictEqual(LogCheck.problemOf({ ...event, extra: 1 }), 'an event has no member "extra"')
  })

  it.prop("reads back every header, the absent depth as zero", [Arbitrary.make(Schemas.SessionHeader)], ([header]) => {
    const { delegationDepth = 0, version: _, ...rest } = header
    const read = LogCheck.header({ ...rest, delegationDepth })
    assert.deepStrictEqual(Either.getOrThrow(read), { version: 1, ...rest, delegationDepth })
  })

  it("refuses headers that say something impossible", () => {
    const good = { id: "s", createdAt: 1, delegationDepth: 0 }
    const problem = (fields: object) => Either.getOrUndefined(Either.flip(LogCheck.header({ ...good, ...fields })))
    assert.isUndefined(problem({}))
    assert.strictEqual(problem({ createdAt: 1.5 }), "createdAt is not a non-negative whole number")
    assert.strictEqual(problem({ cwd: "relative" }), "cwd relative is not an absolute path")
    assert.strictEqual(problem({ origin: "elsewhere" }), "origin is not subagent")
    assert.strictEqual(problem({ delegationDepth: undefined }), "delegationDepth is not a non-negative whole number")
  })
})

describe("Schemas", () => {
  it("can be published as JSON Schema", () => {
    assert.property(JSONSchema.make(Schemas.CoreEvent), "anyOf")
    assert.property(JSONSchema.make(Schemas.ExtensionEvent), "properties")
    assert.property(JSONSchema.make(Schemas.SessionHeader), "$defs")
  })
})
