import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Schema, Scope, TestClock } from "effect"
import * as Tool from "../src/Tool.ts"
import * as ToolHooks from "../src/ToolHooks.ts"
import * as Pipeline from "../src/ToolPipeline.ts"
import * as ToolTimeout from "../src/ToolTimeout.ts"
import { base, call, infoOf, register, textOf } from "./support.ts"

const taking = (body: Effect.Effect<string>, timeout?: Tool.Tool["timeout"]) =>
  Tool.make({
    name: "work",
    description: "Works.",
    parameters: Schema.Struct({}),
    output: Schema.String,
    execute: () => body,
    render: (_, value) => value,
    ...(timeout !== undefined && { timeout })
  })

const world = Layer.provideMerge(ToolTimeout.layer(), base)

const run = Pipeline.execute(call("work"))

describe("ToolTimeout", () => {
  it.scoped("stops a body at its deadline, not before, and says how long that was", () =>
    Effect.gen(function* () {
      let interrupted = false
      const body = Effect.onInterrupt(Effect.never, () => Effect.sync(() => (interrupted = true)))
      yield* register(taking(body, "90 seconds"))
      const fiber = yield* Effect.fork(run)
      yield* TestClock.adjust("89 seconds")
      assert.isFalse(interrupted)
      yield* TestClock.adjust("1 seconds")
      const outcome = yield* Fiber.join(fiber)
      assert.isTrue(interrupted)
      assert.strictEqual(infoOf(outcome), "TOOL_TIMEOUT")
      assert.match(textOf(outcome), /^Error: work did not end within 1m 30s and was stopped/)
    }).pipe(Effect.provide(world))
  )

  it.scoped("lets pass what ends in time, whatever it comes to, and what has no deadline", () =>
    Effect.gen(function* () {
      yield* register(taking(Effect.as(Effect.sleep("5 seconds"), "done"), "10 seconds"))
      const fiber = yield* Effect.fork(run)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(textOf(yield* Fiber.join(fiber)), "done")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const tools = yield* Layer.build(Layer.fresh(world))
          const slow = Effect.zipRight(register(taking(Effect.as(Effect.sleep("1 days"), "done"))), run)
          const other = yield* Effect.fork(Effect.provide(slow, tools))
          yield* TestClock.adjust("1 days")
          assert.strictEqual(textOf(yield* Fiber.join(other)), "done")
        })
      )
    }).pipe(Effect.provide(world))
  )

  it.scoped("answers at once for a body that cannot be stopped, and lets it end behind", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      yield* register(
        taking(
          Effect.uninterruptible(
            Effect.as(Effect.ensuring(Deferred.await(gate), Deferred.succeed(ended, undefined)), "late")
          ),
          "1 seconds"
        )
      )
      const fiber = yield* Effect.fork(run)
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual(infoOf(yield* Fiber.join(fiber)), "TOOL_TIMEOUT")
      yield* Deferred.succeed(gate, undefined)
      yield* Deferred.await(ended)
    }).pipe(Effect.provide(world))
  )

  it.scoped("does not keep the process for a body that never ends", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(Layer.fresh(world), scope)
      const fiber = yield* register(taking(Effect.uninterruptible(Effect.never), "1 seconds")).pipe(
        Effect.zipRight(run),
        Effect.scoped,
        Effect.provide(services),
        Effect.fork
      )
      yield* TestClock.adjust("1 seconds")
      yield* Fiber.join(fiber)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)
    })
  )

  it.scoped("waits for the body when the call is cancelled, for then nothing may run any more", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      let cleaned = false
      const body = Effect.onInterrupt(Effect.zipRight(Deferred.succeed(started, undefined), Effect.never), () =>
        Effect.sync(() => (cleaned = true))
      )
      yield* register(taking(body, "1 seconds"))
      const fiber = yield* Effect.fork(run)
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(cleaned)
    }).pipe(Effect.provide(world))
  )

  it.scoped("counts the time of the body alone, and its answer is judged like any other", () =>
    Effect.gen(function* () {
      yield* register(taking(Effect.never, "1 seconds"))
      yield* (yield* ToolHooks.Execute).use("slow", (execution, next) =>
        Effect.zipRight(Effect.sleep("1 hours"), next(execution))
      )
      let judged: string | undefined
      yield* (yield* ToolHooks.PostExecute).use("look", (input, next) => {
        judged = infoOf(input.outcome)
        return next(input)
      })
      const fiber = yield* Effect.fork(run)
      yield* TestClock.adjust("1 hours")
      assert.isTrue((yield* Fiber.poll(fiber))._tag === "None")
      yield* TestClock.adjust("1 seconds")
      yield* Fiber.join(fiber)
      assert.strictEqual(judged, "TOOL_TIMEOUT")
    }).pipe(Effect.provide(world))
  )
})
