import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Logger } from "effect"
import { Execute, PostExecute, ToolResult } from "../src/ToolHooks.ts"
import type { Judgement } from "../src/ToolHooks.ts"
import * as Pipeline from "../src/ToolPipeline.ts"
import * as Tools from "../src/Tools.ts"
import { base, broken, call, doing, echo, echoed, infoOf, journal, register, said, textOf } from "./support.ts"
import type { Seen } from "./support.ts"

layer(base)("ToolPipeline, the body", (it) => {
  it.scoped("may add contexts and conclude the turn", () =>
    Effect.gen(function* () {
      yield* register(
        doing("acts", ({ concludeTurn, deferContext }) =>
          deferContext(said("one")).pipe(
            Effect.zipRight(deferContext(said("two"))),
            Effect.zipRight(concludeTurn),
            Effect.as("acted")
          )
        )
      )
      const outcome = yield* Pipeline.execute(call("acts"))
      assert.deepStrictEqual(outcome.additionalContexts, [said("one"), said("two")])
      assert.isTrue(!outcome.isError && outcome.concludesTurn)
    })
  )

  it.scoped("keeps its contexts when it fails, and concludes nothing then", () =>
    Effect.gen(function* () {
      yield* register(
        doing("fails", ({ concludeTurn, deferContext }) =>
          deferContext(said("one")).pipe(Effect.zipRight(concludeTurn), Effect.zipRight(broken))
        )
      )
      const outcome = yield* Pipeline.execute(call("fails"))
      assert.isTrue(outcome.isError)
      assert.deepStrictEqual(outcome.additionalContexts, [said("one")])
      assert.notProperty(outcome, "concludesTurn")
    })
  )

  it.scoped("knows its call and where it works", () =>
    Effect.gen(function* () {
      yield* register(doing("where", ({ callId, cwd, session }) => Effect.succeed(`${callId} ${cwd} ${session}`)))
      assert.strictEqual(textOf(yield* Pipeline.execute(call("where"))), "c . undefined")
    })
  )

  it.scoped("is cleaned up by an interruption, which stays one: nobody judges, nobody is told", () =>
    Effect.gen(function* () {
      const asked = yield* journal
      const started = yield* Deferred.make<void>()
      yield* register(
        doing("waits", () =>
          Deferred.succeed(started, undefined).pipe(
            Effect.zipRight(Effect.never),
            Effect.onInterrupt(() => Effect.sync(() => void asked.push("cleaned up")))
          )
        )
      )
      const fiber = yield* Effect.fork(Pipeline.execute(call("waits")))
      yield* Deferred.await(started)
      const exit = yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.isInterrupted(exit))
      assert.strictEqual(asked.join(" "), "pre guard execute cleaned up")
    })
  )

  it.scoped("a value that breaks whoever looks at it becomes a result, and is logged", () =>
    Effect.gen(function* () {
      const throws = (): never => {
        throw new Error("again")
      }
      const hostile: ReadonlyArray<readonly [thrown: unknown, text: string]> = [
        [undefined, "Error: the tool failed in an unexpected way"],
        [null, "Error: the tool failed in an unexpected way"],
        [10n, "Error: 10"],
        ["plain", "Error: plain"],
        [Object.create(null), "Error: the tool failed in an unexpected way"],
        [{ toString: throws }, "Error: the tool failed in an unexpected way"],
        [{ toJSON: throws }, "Error: the tool failed in an unexpected way"],
        [
          Object.defineProperty(new Error("x"), "message", { get: throws }),
          "Error: the tool failed in an unexpected way"
        ],
        [
          Object.assign(new Error("x"), { message: { toString: throws } }),
          "Error: the tool failed in an unexpected way"
        ],
        [new Proxy({}, { get: throws, getPrototypeOf: throws }), "Error: the tool failed in an unexpected way"]
      ]
      const lines: Array<string> = []
      const logger = Logger.map(Logger.stringLogger, (line) => void lines.push(line))
      for (const [thrown, text] of hostile) {
        const outcome = yield* Effect.gen(function* () {
          yield* register(
            doing("throws", (): Effect.Effect<string> => {
              throw thrown
            })
          )
          return yield* Pipeline.execute(call("throws"))
        }).pipe(Effect.scoped, Effect.provide(Logger.add(logger)))
        assert.strictEqual(textOf(outcome), text)
      }
      assert.strictEqual(lines.length, hostile.length)
    })
  )
})

layer(base)("ToolPipeline, execute hooks", (it) => {
  it.scoped("wrap the body and may answer for it", () =>
    Effect.gen(function* () {
      yield* register(echo)
      const point = yield* Execute
      yield* point.use("shortens", (input, next) =>
        Effect.map(next(input), (outcome) => ({ ...outcome, content: [{ type: "text" as const, text: "short" }] }))
      )
      assert.strictEqual(textOf(yield* Pipeline.execute(echoed)), "short")
      yield* point.use("answers", () => Effect.succeed(Pipeline.failure(broken)), { order: -1 })
      assert.strictEqual(textOf(yield* Pipeline.execute(echoed)), "Error: broken")
    })
  )

  it.scoped("see a failing body as an outcome", () =>
    Effect.gen(function* () {
      yield* register(doing("fails", () => broken))
      const seen: Array<boolean> = []
      yield* (yield* Execute).use("sees", (input, next) =>
        Effect.tap(next(input), ({ isError }) => Effect.sync(() => void seen.push(isError)))
      )
      yield* Pipeline.execute(call("fails"))
      assert.deepStrictEqual(seen, [true])
    })
  )
})

layer(base)("ToolPipeline, the judgement", (it) => {
  const judging = (judgement: Judgement) =>
    Effect.flatMap(PostExecute, (point) => point.use("judges", () => Effect.succeed(judgement)))
  const contextual = doing("contextual", ({ concludeTurn, deferContext }) =>
    deferContext(said("tool's own")).pipe(Effect.zipRight(concludeTurn), Effect.as("done"))
  )
  const text = (value: string) => [{ type: "text" as const, text: value }]

  it.scoped("may replace the content and keep the rest", () =>
    Effect.gen(function* () {
      yield* register(echo)
      yield* judging({ kind: "accept", content: text("redacted") })
      const outcome = yield* Pipeline.execute(echoed)
      assert.strictEqual(textOf(outcome), "redacted")
      assert.deepInclude({ ...outcome }, { isError: false, value: { length: 3 }, meta: { length: 3 } })
    })
  )

  it.scoped("may replace the content of a failure, which stays one", () =>
    Effect.gen(function* () {
      yield* register(doing("fails", () => broken))
      yield* judging({ kind: "accept", content: text("gently") })
      const outcome = yield* Pipeline.execute(call("fails"))
      assert.deepStrictEqual([outcome.isError, textOf(outcome), infoOf(outcome)], [true, "gently", "BROKEN"])
    })
  )

  it.scoped("may replace the value, which is validated and rendered again", () =>
    Effect.gen(function* () {
      yield* register(echo)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* judging({ kind: "accept", value: { length: 42 } })
          const outcome = yield* Pipeline.execute(echoed)
          assert.strictEqual(textOf(outcome), "hey (42)")
          assert.deepInclude({ ...outcome }, { value: { length: 42 }, meta: { length: 42 } })
        })
      )
      yield* judging({ kind: "accept", value: { length: "many" } })
      assert.strictEqual(infoOf(yield* Pipeline.execute(echoed)), "INVALID_TOOL_OUTPUT")
    })
  )

  it.scoped("keeps contexts and the end of the turn when it replaces the value", () =>
    Effect.gen(function* () {
      yield* register(contextual)
      yield* judging({ kind: "accept", value: "other", additionalContexts: [said("judge's")] })
      const outcome = yield* Pipeline.execute(call("contextual"))
      assert.deepStrictEqual(outcome.additionalContexts, [said("tool's own"), said("judge's")])
      assert.isTrue(!outcome.isError && outcome.concludesTurn)
      assert.strictEqual(textOf(outcome), "other")
    })
  )

  it.scoped("may not replace content and value at once, nor give a failure a value", () =>
    Effect.gen(function* () {
      yield* register(echo)
      yield* register(doing("fails", () => broken))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* judging({ kind: "accept", content: text("x"), value: { length: 1 } })
          const outcome = yield* Pipeline.execute(echoed)
          assert.strictEqual(infoOf(outcome), "INVALID_TOOL_OUTPUT")
          assert.include(textOf(outcome), "replaced both content and value")
        })
      )
      yield* judging({ kind: "accept", value: "x" })
      const outcome = yield* Pipeline.execute(call("fails"))
      assert.strictEqual(infoOf(outcome), "INVALID_TOOL_OUTPUT")
      assert.include(textOf(outcome), "gave a failed call a value")
    })
  )

  it.scoped("of a tool that is gone shows nothing of what it meant to replace", () =>
    Effect.gen(function* () {
      const { dispatched, execution } = yield* Effect.scoped(
        Effect.gen(function* () {
          yield* register(echo)
          const prepared = yield* Pipeline.prepare(call("echo", { text: "secret" }))
          return { execution: prepared.execution, dispatched: yield* Pipeline.dispatch(prepared.execution) }
        })
      )
      yield* judging({ kind: "accept", value: { length: 0 } })
      const outcome = yield* Pipeline.finalize(execution, dispatched)
      assert.strictEqual(infoOf(outcome), "UNKNOWN_TOOL")
      assert.notInclude(JSON.stringify(outcome.content), "secret")
    })
  )

  it.scoped("may block: feedback instead of the result, the tool's own contexts dropped, its own kept", () =>
    Effect.gen(function* () {
      yield* register(contextual)
      yield* judging({ kind: "block", feedback: "run the tests first", additionalContexts: [said("judge's")] })
      assert.deepStrictEqual(yield* Pipeline.execute(call("contextual")), {
        isError: true,
        error: { message: "run the tests first" },
        content: text("run the tests first"),
        additionalContexts: [said("judge's")]
      })
    })
  )

  it.scoped("appends its contexts to the tool's own, also for a failure", () =>
    Effect.gen(function* () {
      yield* register(doing("fails", ({ deferContext }) => Effect.zipRight(deferContext(said("tool's own")), broken)))
      yield* judging({ kind: "accept", additionalContexts: [said("judge's")] })
      const outcome = yield* Pipeline.execute(call("fails"))
      assert.deepStrictEqual(outcome.additionalContexts, [said("tool's own"), said("judge's")])
    })
  )

  it.scoped("sees a denied call too", () =>
    Effect.gen(function* () {
      yield* register(echo)
      yield* (yield* Tools.Tools).guard(() => "no")
      yield* judging({ kind: "accept", content: text("denied, and why") })
      assert.strictEqual(textOf(yield* Pipeline.execute(echoed)), "denied, and why")
    })
  )
})

layer(base)("ToolPipeline, the result", (it) => {
  it.scoped("is told once, frozen, to every observer, and an observer's failure changes nothing", () =>
    Effect.gen(function* () {
      yield* register(echo)
      const point = yield* ToolResult
      const seen: Array<Seen> = []
      yield* point.use("breaks", () => Effect.die("bug"))
      yield* point.use("sees", (told) => Effect.sync(() => void seen.push(told)))
      const outcome = yield* Pipeline.execute(echoed)
      assert.strictEqual(seen.length, 1)
      assert.strictEqual(seen[0]!.outcome, outcome)
      for (const part of [outcome, outcome.content, outcome.content[0], outcome.meta])
        assert.isTrue(Object.isFrozen(part))
    })
  )

  it.scoped("of a hook that cannot be logged is a failure that says so", () =>
    Effect.gen(function* () {
      yield* register(echo)
      yield* (yield* PostExecute).use("judges", () =>
        Effect.succeed({ kind: "accept", content: [{ type: "text", text: "x", extra: Number.NaN } as never] })
      )
      const outcome = yield* Pipeline.execute(echoed)
      assert.strictEqual(infoOf(outcome), "INVALID_TOOL_OUTPUT")
      assert.include(textOf(outcome), "the result of echo cannot be logged: $.content[0].extra is NaN")
    })
  )
})
