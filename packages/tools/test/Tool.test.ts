import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Schema } from "effect"
import * as Tool from "../src/Tool.ts"
import { ToolError } from "../src/ToolError.ts"
import { UnsupportedSchema } from "../src/ToolSchema.ts"
import { context, echo } from "./support.ts"

const make = (
  more: Partial<Tool.Definition<"t", { readonly n: number }, { readonly n: number }, unknown, unknown, never>>
) =>
  Tool.make({
    name: "t",
    description: "d",
    parameters: Schema.Struct({ n: Schema.Number }),
    output: Schema.Unknown,
    execute: ({ n }) => Effect.succeed(n),
    render: (_, value) => `${value}`,
    ...more
  })

const failed = (effect: Effect.Effect<unknown, ToolError>) =>
  Effect.map(Effect.flip(effect), ({ code, message }) => ({ code, message }))

describe("Tool", () => {
  it.effect("validates, runs, and renders: value, content, meta", () =>
    Effect.gen(function* () {
      const done = yield* echo.run({ text: "hey" }, context)
      assert.deepStrictEqual(done, {
        value: { length: 3 },
        content: [{ type: "text", text: "hey (3)" }],
        meta: { length: 3 }
      })
      assert.isTrue(Object.isFrozen(done.content))
    })
  )

  it.effect("keeps blocks that a tool renders itself, and leaves out a meta it does not have", () =>
    Effect.gen(function* () {
      const image = { type: "image", attachment: { id: "i", mediaType: "image/png", bytes: 1 } } as const
      const done = yield* make({ render: () => [image] }).run({ n: 1 }, context)
      assert.deepStrictEqual(done, { value: 1, content: [image] })
    })
  )

  it.effect("gives the body decoded arguments and its context", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const tool = Tool.make({
        name: "t",
        description: "d",
        parameters: Schema.Struct({ n: Schema.optionalWith(Schema.NumberFromString, { default: () => 7 }) }),
        output: Schema.Void,
        execute: ({ n }, { callId, cwd }) => Effect.sync(() => void seen.push(n, callId, cwd)),
        render: () => "done"
      })
      yield* Effect.exit(tool.run({}, context))
      yield* Effect.exit(tool.run({ n: "3" }, context))
      assert.deepStrictEqual(seen, [7, "c", "/w", 3, "c", "/w"])
    })
  )

  it.effect("does not run the body for invalid arguments", () =>
    Effect.gen(function* () {
      let ran = false
      const tool = make({ execute: () => Effect.sync(() => (ran = true)) })
      assert.deepStrictEqual(yield* failed(tool.run({ n: "x" }, context)), {
        code: "INVALID_ARGS",
        message: 'invalid arguments for t: n: Expected number, actual "x"'
      })
      assert.isFalse(ran)
    })
  )

  it.effect("passes the body's own error on", () =>
    Effect.gen(function* () {
      const error = new ToolError({ code: "NOT_FOUND", message: "no such file" })
      assert.strictEqual(yield* Effect.flip(make({ execute: () => error }).run({ n: 1 }, context)), error)
    })
  )

  it.effect("refuses a value, a content or a meta that cannot be logged, and a render that throws", () =>
    Effect.gen(function* () {
      const run = (more: Parameters<typeof make>[0]) => failed(make(more).run({ n: 1 }, context))
      const throws = () => {
        throw new Error("broken")
      }
      const bad = Object.assign({ type: "text" as const, text: "x" }, { extra: undefined })
      for (const [more, reason] of [
        [
          { execute: () => Effect.succeed(1n) },
          "t returned a value that does not fit its own output schema: $ is a bigint"
        ],
        [{ render: throws }, "t could not show its result: broken"],
        [{ meta: throws }, "t could not show its result: broken"],
        [{ render: () => [bad] }, "t could not show its result: $.content[0].extra is undefined"],
        [{ meta: () => Number.NaN }, "t could not show its result: $.meta is NaN"]
      ] as const) {
        const { code, message } = yield* run(more)
        assert.strictEqual(code, "INVALID_TOOL_OUTPUT")
        assert.include(message, reason)
      }
    })
  )

  it.effect("a body that throws instead of failing is a defect", () =>
    Effect.gen(function* () {
      const tool = make({
        execute: (): Effect.Effect<unknown> => {
          throw new Error("broken")
        }
      })
      const exit = yield* Effect.exit(tool.run({ n: 1 }, context))
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
    })
  )

  it.effect("renders a value that came from elsewhere, if it fits", () =>
    Effect.gen(function* () {
      const again = yield* echo.render({ text: "hey" }, { length: 9 })
      assert.deepStrictEqual(again.content, [{ type: "text", text: "hey (9)" }])
      assert.strictEqual((yield* failed(echo.render({ text: "hey" }, { length: "x" }))).code, "INVALID_TOOL_OUTPUT")
    })
  )

  it("is parallel-safe only when it says so, and only for valid arguments", () => {
    const safe = (parallelSafe: NonNullable<Parameters<typeof make>[0]["parallelSafe"]>, args: number | string) =>
      make({ parallelSafe }).isParallelSafe({ n: args })
    assert.isFalse(make({}).isParallelSafe({ n: 1 }))
    assert.isTrue(safe(true, 1))
    assert.isFalse(safe(true, "x"))
    assert.isFalse(make({ parallelSafe: true }).isParallelSafe("not parsed"))
    assert.isTrue(safe(({ n }) => n > 0, 1))
    assert.isFalse(safe(({ n }) => n > 0, 0))
    assert.isFalse(safe(({ n }) => n > 0, "x"))
    const throws = () => {
      throw new Error("broken")
    }
    assert.isFalse(safe(throws, 1))
  })

  it("is refused at once when its arguments cannot be told to a model", () => {
    const define = () =>
      Tool.make({
        name: "t",
        description: "d",
        parameters: Schema.Struct({ at: Schema.DateFromSelf }),
        output: Schema.Void,
        execute: () => Effect.void,
        render: () => ""
      })
    assert.throws(define, UnsupportedSchema, 'tool "t": the schema at $ has no JSON Schema')
  })
})
