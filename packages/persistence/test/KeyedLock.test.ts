import { assert, describe, it } from "@effect/vitest"
import * as KeyedLock from "@dsh/persistence/PersistenceCoordinator/KeyedLock"
import { Deferred, Effect, Exit, Fiber, FiberId } from "effect"

/** An operation that writes down when it begins and ends, and goes on when it is told to. */
const makeSteps = Effect.sync(() => {
  const { withLock } = KeyedLock.make<string>()
  const log: Array<string> = []
  const operation = (name: string, gate: Effect.Effect<void> = Effect.void) =>
    withLock("key", () =>
      Effect.gen(function* () {
        log.push(`${name} begins`)
        yield* gate
        log.push(`${name} ends`)
      })
    )
  return { withLock, log, operation }
})

describe("KeyedLock", () => {
  it.effect("runs operations on a key one after the other, in order", () =>
    Effect.gen(function* () {
      const { log, operation } = yield* makeSteps
      yield* Effect.forEach(["a", "b", "c"], (name) => operation(name, Effect.yieldNow()), { concurrency: "unbounded" })
      yield* operation("d")
      assert.deepStrictEqual(log, [
        "a begins",
        "a ends",
        "b begins",
        "b ends",
        "c begins",
        "c ends",
        "d begins",
        "d ends"
      ])
    })
  )

  it.effect("does not make one key wait for another", () =>
    Effect.gen(function* () {
      const { operation, withLock } = yield* makeSteps
      const gate = yield* Deferred.make<void>()
      const held = yield* Effect.fork(operation("a", Deferred.await(gate)))
      yield* Effect.yieldNow()
      assert.strictEqual(yield* withLock("other", () => Effect.succeed(1)), 1)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(held)
    })
  )

  it.effect("lets those who gave up waiting out, and keeps the order of the others", () =>
    Effect.gen(function* () {
      const { log, operation } = yield* makeSteps
      const gate = yield* Deferred.make<void>()
      const fibers = yield* Effect.forEach(["a", "b", "c", "d"], (name) =>
        Effect.fork(operation(name, name === "a" ? Deferred.await(gate) : Effect.void))
      )
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fibers[1]!)
      yield* Fiber.interrupt(fibers[2]!)
      const late = yield* Effect.fork(operation("e"))
      yield* Effect.yieldNow()
      assert.deepStrictEqual(log, ["a begins"])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.joinAll([fibers[0]!, fibers[3]!, late])
      assert.deepStrictEqual(log.slice(1), ["a ends", "d begins", "d ends", "e begins", "e ends"])
    })
  )

  it.effect("passes the key on when somebody is interrupted at the moment it is their turn", () =>
    Effect.gen(function* () {
      const { log, operation, withLock } = yield* makeSteps
      const gate = yield* Deferred.make<void>()
      let second: Fiber.RuntimeFiber<void> | undefined
      const first = yield* Effect.fork(
        Effect.andThen(
          withLock("key", () => Deferred.await(gate)),
          // In the same breath: the turn was given to the second, who has not run since.
          Effect.sync(() => second!.unsafeInterruptAsFork(FiberId.none))
        )
      )
      yield* Effect.yieldNow()
      second = yield* Effect.fork(operation("second"))
      yield* Effect.yieldNow()
      const third = yield* Effect.fork(operation("third"))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(first)
      yield* Fiber.join(third)
      yield* operation("fourth")
      assert.deepStrictEqual(log.slice(-4), ["third begins", "third ends", "fourth begins", "fourth ends"])
    })
  )

  it.effect("does not interrupt an operation, apart from what it restores", () =>
    Effect.gen(function* () {
      const { log, operation, withLock } = yield* makeSteps
      const gate = yield* Deferred.make<void>()
      const whole = yield* Effect.fork(operation("a", Deferred.await(gate)))
      yield* Effect.yieldNow()
      const interrupting = yield* Effect.fork(Fiber.interrupt(whole))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(interrupting)
      assert.deepStrictEqual(log, ["a begins", "a ends"])

      const cut = yield* Effect.fork(withLock("key", (restore) => restore(Effect.never)))
      yield* Effect.yieldNow()
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(cut)))
      yield* operation("b")
    })
  )

  it.effect("is free again after an operation that failed or threw", () =>
    Effect.gen(function* () {
      const { operation, withLock } = yield* makeSteps
      assert.strictEqual(yield* Effect.flip(withLock("key", () => Effect.fail("no"))), "no")
      const thrown = yield* Effect.exit(
        withLock("key", (): Effect.Effect<void> => {
          throw new Error("thrown")
        })
      )
      assert.isTrue(Exit.isFailure(thrown))
      yield* operation("a")
    })
  )
})
