import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as LayerBuilder from "../src/LayerBuilder.ts"

class Log extends Context.Tag("test/Log")<Log, Array<string>>() {}
class A extends Context.Tag("test/A")<A, string>() {}
class B extends Context.Tag("test/B")<B, string>() {}
class C extends Context.Tag("test/C")<C, string>() {}

/** A service that says in the log when it is opened and closed, and what it was given. */
const service = <Self, R>(tag: Context.Tag<Self, string>, name: string, needs: Effect.Effect<string, never, R>) =>
  Layer.scoped(
    tag,
    Effect.gen(function* () {
      const log = yield* Log
      const given = yield* needs
      log.push(`+${name}`)
      yield* Effect.addFinalizer(() => Effect.sync(() => log.push(`-${name}`)))
      return `${name}(${given})`
    })
  )

const a = service(A, "a", Effect.succeed(""))
const b = service(B, "b", A)
const c = service(
  C,
  "c",
  Effect.zipWith(A, B, (a, b) => `${a} ${b}`)
)

type Provide = <X, E, R>(
  layer: Layer.Layer<X, E, R>
) => <Y, E2, R2>(self: Effect.Effect<Y, E2, R2>) => Effect.Effect<Y, E | E2, R | Exclude<R2, X>>

const builders: ReadonlyArray<readonly [name: string, provide: Provide]> = [
  ["LayerBuilder.provide", LayerBuilder.provide],
  ["Effect.provide", Effect.provide]
]

/** What the program saw, and the log of openings and closings. */
const observe = <X, E, E2, Y>(
  provide: Provide,
  layer: Layer.Layer<X, E, Log>,
  program: Effect.Effect<Y, E2, X | Log>
): Effect.Effect<readonly [Exit.Exit<Y, E | E2>, ReadonlyArray<string>]> =>
  Effect.suspend(() => {
    const log: Array<string> = []
    return provide(layer)(program).pipe(
      Effect.exit,
      Effect.provideService(Log, log),
      Effect.map((exit) => [exit, log] as const)
    )
  })

for (const [name, provide] of builders) {
  describe(`${name}`, () => {
    it.effect("opens what is needed first, shares it, and closes in reverse", () =>
      Effect.gen(function* () {
        const layer = c.pipe(Layer.provideMerge(b), Layer.provideMerge(a))
        const [exit, log] = yield* observe(provide, layer, Effect.all([A, B, C]))
        assert.deepStrictEqual(exit, Exit.succeed(["a()", "b(a())", "c(a() b(a()))"]))
        assert.deepStrictEqual(log, ["+a", "+b", "+c", "-c", "-b", "-a"])
      })
    )

    it.effect("builds a layer that is used in many places once", () =>
      Effect.gen(function* () {
        const shared = Layer.mergeAll(a, Layer.provide(b, a), Layer.provide(c, Layer.merge(Layer.provide(b, a), a)))
        const [exit, log] = yield* observe(provide, shared, Effect.all([A, B, C]))
        assert.deepStrictEqual(exit, Exit.succeed(["a()", "b(a())", "c(a() b(a()))"]))
        assert.lengthOf(
          log.filter((line) => line === "+a"),
          1
        )
      })
    )

    it.effect("builds anew inside Layer.fresh", () =>
      Effect.gen(function* () {
        const layer = Layer.merge(a, Layer.fresh(a))
        const [, log] = yield* observe(provide, layer, A)
        assert.lengthOf(
          log.filter((line) => line === "+a"),
          2
        )
      })
    )

    it.effect("hides what is only provided", () =>
      Effect.gen(function* () {
        const [exit] = yield* observe(provide, Layer.provide(b, a), Effect.all([B, Effect.serviceOption(A)]))
        assert.deepInclude(exit, { _tag: "Success" })
        if (Exit.isSuccess(exit)) assert.strictEqual(exit.value[1]._tag, "None")
      })
    )

    it.effect("closes what was opened when a later layer fails", () =>
      Effect.gen(function* () {
        const broken = Layer.effect(C, Effect.zipRight(B, Effect.fail("broken")))
        const layer = broken.pipe(Layer.provideMerge(b), Layer.provideMerge(a))
        const [exit, log] = yield* observe(provide, layer, Effect.all([A, B, C]))
        assert.deepStrictEqual(exit, Exit.fail("broken"))
        assert.deepStrictEqual(log, ["+a", "+b", "-b", "-a"])
      })
    )

    it.effect("falls back, unwraps and discards", () =>
      Effect.gen(function* () {
        const broken: Layer.Layer<A, string> = Layer.fail("broken")
        const layer = Layer.mergeAll(
          Layer.catchAll(broken, () => a),
          Layer.unwrapEffect(Effect.succeed(Layer.succeed(B, "b"))),
          Layer.suspend(() => Layer.sync(C, () => "c")),
          Layer.scopedDiscard(Effect.flatMap(Log, (log) => Effect.sync(() => log.push("discarded"))))
        )
        const [exit, log] = yield* observe(provide, layer, Effect.all([A, B, C]))
        assert.deepStrictEqual(exit, Exit.succeed(["a()", "b", "c"]))
        assert.sameMembers([...log], ["+a", "discarded", "-a"])
      })
    )

    it.effect("lets a layer change the fiber it is built in", () =>
      Effect.gen(function* () {
        const ref = FiberRef.unsafeMake("outside")
        const layer = Layer.merge(
          a,
          Layer.fiberRefLocallyScopedWith(ref, () => "inside")
        )
        const [exit] = yield* observe(provide, layer, FiberRef.get(ref))
        assert.deepStrictEqual(exit, Exit.succeed("inside"))
      })
    )

    it.effect("keeps the services of the caller", () =>
      Effect.gen(function* () {
        const [exit] = yield* observe(provide, a, Effect.zipRight(Log, A))
        assert.deepStrictEqual(exit, Exit.succeed("a()"))
      })
    )
  })
}
