import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Ref, Scope } from "effect"
import * as Late from "../src/Late.ts"

class Adder extends Context.Tag("test/Adder")<
  Adder,
  {
    readonly add: (a: number, b: number) => Effect.Effect<number>
    readonly refuse: (why: string) => Effect.Effect<never, string>
  }
>() {}

class Bonus extends Context.Tag("test/Bonus")<Bonus, number>() {}

describe("Late.once", () => {
  it.scoped("runs once for all that wait", () =>
    Effect.gen(function* () {
      const runs = yield* Ref.make(0)
      const once = yield* Late.once(Ref.updateAndGet(runs, (n) => n + 1))
      assert.strictEqual(yield* Ref.get(runs), 0)
      assert.deepStrictEqual(yield* Effect.all([once, once, once], { concurrency: 3 }), [1, 1, 1])
    })
  )

  it.scoped("keeps a failure", () =>
    Effect.gen(function* () {
      const runs = yield* Ref.make(0)
      const once = yield* Late.once(
        Effect.zipRight(
          Ref.update(runs, (n) => n + 1),
          Effect.fail("no")
        )
      )
      assert.deepStrictEqual([yield* Effect.flip(once), yield* Effect.flip(once)], ["no", "no"])
      assert.strictEqual(yield* Ref.get(runs), 1)
    })
  )

  it.scoped("who stops waiting stops nothing, and at once", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const go = yield* Deferred.make<number>()
      const once = yield* Late.once(Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(go)))
      const impatient = yield* Effect.fork(once)
      yield* Deferred.await(begun)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(impatient)))
      yield* Deferred.succeed(go, 7)
      assert.strictEqual(yield* once, 7)
    })
  )

  it.effect("what it opens is closed with the Scope it was made in, not with that of who ran it", () =>
    Effect.gen(function* () {
      const events = yield* Ref.make<ReadonlyArray<string>>([])
      const note = (event: string) => Ref.update(events, (all) => [...all, event])
      const scope = yield* Scope.make()
      const opening = Effect.acquireRelease(note("opened"), () => note("closed"))
      const once = yield* Scope.extend(Late.once(opening), scope)
      yield* Effect.scoped(once)
      assert.deepStrictEqual(yield* Ref.get(events), ["opened"])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* Ref.get(events), ["opened", "closed"])
    })
  )
})

describe("Late.layer", () => {
  it.effect("is made when a method runs, with the services of where it stands", () => {
    let loads = 0
    const real = Layer.effect(
      Adder,
      Effect.map(Bonus, (bonus) => ({
        add: (a: number, b: number) => Effect.succeed(a + b + bonus),
        refuse: (why: string) => Effect.fail(why)
      }))
    )
    const late = Late.layer(Adder, ["add", "refuse"], () => {
      loads++
      return Promise.resolve(real)
    })
    return Effect.gen(function* () {
      const adder = yield* Adder
      const sum = adder.add(1, 2)
      assert.strictEqual(loads, 0)
      assert.strictEqual(yield* sum, 103)
      assert.strictEqual(yield* Effect.flip(adder.refuse("no")), "no")
      assert.strictEqual(loads, 1)
    }).pipe(Effect.provide(Layer.provide(late, Layer.succeed(Bonus, 100))))
  })
})
