import { assert, describe, it, layer } from "@effect/vitest"
import { Cause, Context, Deferred, Effect, Exit, Layer, Logger, Option } from "effect"
import { Around, Asked, InTurn, Observed, Together, Who, hostile, journal, points } from "./support.ts"

layer(points)("Hook.Emit", (it) => {
  it.scoped("contains a failure, a defect, a throw and an inner interruption", () =>
    Effect.gen(function* () {
      const point = yield* Observed
      const { entries, note } = journal()
      yield* point.use("fails", () => Effect.fail("no"))
      yield* point.use("dies", () => Effect.die(new Error("no")))
      yield* point.use("throws", (): Effect.Effect<void> => {
        throw new Error("no")
      })
      yield* point.use("stops itself", () => Effect.interrupt)
      yield* point.use("hears", note)
      yield* point.emit("news")
      assert.deepStrictEqual(entries, ["news"])
    })
  )

  it.scoped("contains values that break whoever looks at them, and logs them", () =>
    Effect.gen(function* () {
      const point = yield* Observed
      const { entries, note } = journal()
      for (const [name, value] of hostile) {
        yield* point.use(name, (): Effect.Effect<void> => {
          throw value
        })
      }
      yield* point.use("hears", note)
      const lines: Array<string> = []
      const logger = Logger.map(Logger.stringLogger, (line) => void lines.push(line))
      yield* Effect.provide(point.emit("news"), Logger.add(logger))
      assert.deepStrictEqual(entries, ["news"])
      assert.strictEqual(lines.length, hostile.length)
    })
  )

  it.scoped("goes one after the other", () =>
    Effect.gen(function* () {
      const point = yield* Observed
      const { entries, note } = journal()
      yield* point.use("slow", () => Effect.zipRight(Effect.yieldNow(), note("slow")))
      yield* point.use("fast", () => note("fast"))
      yield* point.emit("in")
      assert.deepStrictEqual(entries, ["slow", "fast"])
    })
  )
})

layer(points)("Hook.Waterfall", (it) => {
  const shout = (input: string) => Effect.succeed(`${input}!`)

  it.scoped("wraps: inputs go in from the outside, outputs come back from the inside", () =>
    Effect.gen(function* () {
      const point = yield* Around
      yield* point.use("inner", (input, next) => Effect.map(next(`${input}i`), (out) => `${out}I`), { order: 1 })
      yield* point.use("outer", (input, next) => Effect.map(next(`${input}o`), (out) => `${out}O`))
      assert.strictEqual(yield* point.run("x", shout), "xoi!IO")
    })
  )

  it.scoped("a handler that does not call next answers for all", () =>
    Effect.gen(function* () {
      const point = yield* Around
      const { entries, note } = journal()
      yield* point.use("shortcut", () => Effect.succeed("short"))
      yield* point.use("inner", (input, next) => Effect.zipRight(note("inner"), next(input)))
      assert.strictEqual(yield* point.run("x", (input) => Effect.zipRight(note("base"), shout(input))), "short")
      assert.deepStrictEqual(entries, [])
    })
  )

  it.scoped("next may be called again", () =>
    Effect.gen(function* () {
      const point = yield* Around
      yield* point.use("retries", (input, next) => Effect.orElse(next(input), () => next("again")))
      const once = (input: string) => (input === "x" ? Effect.fail("first") : shout(input))
      assert.strictEqual(yield* point.run("x", once), "again!")
    })
  )

  it.scoped("failures of the operation and of handlers reach the caller", () =>
    Effect.gen(function* () {
      const point = yield* Around
      assert.strictEqual(yield* Effect.flip(point.run("x", () => Effect.fail("base"))), "base")
      yield* point.use("fails", () => Effect.fail("hook"))
      assert.strictEqual(yield* Effect.flip(point.run("x", shout)), "hook")
    })
  )

  it.scoped("an operation that throws is a defect of next, where a handler can see it", () =>
    Effect.gen(function* () {
      const point = yield* Around
      yield* point.use("recovers", (input, next) => Effect.catchAllDefect(next(input), () => Effect.succeed("caught")))
      const throws = (): Effect.Effect<string> => {
        throw new Error("no")
      }
      assert.strictEqual(yield* point.run("x", throws), "caught")
    })
  )

  it.scoped("next runs with the caller's services, plus what the handler gave it", () =>
    Effect.gen(function* () {
      const point = yield* Around
      const who = Effect.map(
        Effect.serviceOption(Who),
        Option.getOrElse(() => "nobody")
      )
      yield* Effect.provideService(
        point.use("plain", (input, next) => Effect.flatMap(Who, (me) => next(`${input} ${me}`))),
        Who,
        "registrant"
      )
      const run = point.run("x", (input) => Effect.map(who, (base) => `${input} ${base}`))
      assert.strictEqual(yield* Effect.provideService(run, Who, "caller"), "x registrant caller")
      assert.strictEqual(yield* run, "x registrant nobody")

      yield* Effect.provideService(
        point.use("provides", (input, next) => Effect.provideService(next(input), Who, "handler"), { order: 1 }),
        Who,
        "registrant"
      )
      assert.strictEqual(yield* Effect.provideService(run, Who, "caller"), "x registrant handler")
    })
  )

  it.scoped("next runs in the caller's Scope, or in the one the handler opened for it", () =>
    Effect.gen(function* () {
      const point = yield* Around
      const { entries, note } = journal()
      yield* point.use("passes", (input, next) => Effect.tap(next(input), () => note("passed")), { order: 0 })
      const run = point.run("x", (input) =>
        Effect.as(
          Effect.addFinalizer(() => note("released")),
          input
        )
      )
      yield* Effect.scoped(Effect.zipRight(run, note("caller")))
      assert.deepStrictEqual(entries.splice(0), ["passed", "caller", "released"])
      yield* point.use("scopes", (input, next) => Effect.scoped(next(input)), { order: -1 })
      yield* Effect.scoped(Effect.zipRight(run, note("caller")))
      assert.deepStrictEqual(entries, ["passed", "released", "caller"])
    })
  )

  it.scoped("next runs without the extension points that only the registrant had", () =>
    Effect.gen(function* () {
      const point = yield* Around
      yield* point.use("passes", (input, next) => Effect.zipRight(Observed, next(input)))
      const run = point.run("x", (input) =>
        Effect.map(Effect.serviceOption(Observed), ({ _tag }) => `${input} ${_tag}`)
      )
      const seen = yield* Effect.mapInputContext(run, (context: Context.Context<never>) =>
        Context.omit(Observed)(context)
      )
      assert.strictEqual(seen, "x None")
    })
  )
})

layer(points)("Hook.Serial", (it) => {
  it.scoped("the first failure ends the dispatch and reaches the caller", () =>
    Effect.gen(function* () {
      const point = yield* InTurn
      const { entries, note } = journal()
      yield* point.use("first", note)
      yield* point.use("fails", () => Effect.fail("stop"))
      yield* point.use("never", note)
      assert.strictEqual(yield* Effect.flip(point.run("in")), "stop")
      assert.deepStrictEqual(entries, ["in"])
    })
  )
})

layer(points)("Hook.Bail", (it) => {
  it.scoped("the first answer wins and nobody else is asked", () =>
    Effect.gen(function* () {
      const point = yield* Asked
      const { entries, note } = journal()
      yield* point.use("abstains", () => Effect.as(note("abstains"), Option.none()))
      yield* point.use("answers", (input) => Effect.as(note("answers"), Option.some(`${input} answered`)))
      yield* point.use("never", () => Effect.as(note("never"), Option.some("too late")))
      assert.deepStrictEqual(yield* point.run("q"), Option.some("q answered"))
      assert.deepStrictEqual(entries, ["abstains", "answers"])
    })
  )

  it.scoped("no answer is None, a failure reaches the caller", () =>
    Effect.gen(function* () {
      const point = yield* Asked
      assert.deepStrictEqual(yield* point.run("q"), Option.none())
      yield* point.use("fails", () => Effect.fail("no"))
      yield* point.use("never", () => Effect.succeedSome("too late"))
      assert.strictEqual(yield* Effect.flip(point.run("q")), "no")
    })
  )
})

layer(points)("Hook.Parallel", (it) => {
  it.scoped("runs at once", () =>
    Effect.gen(function* () {
      const point = yield* Together
      const met = yield* Deferred.make<void>()
      yield* point.use("waits", () => Deferred.await(met))
      yield* point.use("comes", () => Effect.asVoid(Deferred.succeed(met, undefined)))
      yield* point.run("in")
    })
  )

  it.scoped("waits for all, then fails with the first failure in dispatch order", () =>
    Effect.gen(function* () {
      const point = yield* Together
      const { entries, note } = journal()
      const failed = yield* Deferred.make<void>()
      yield* point.use("late", () => Effect.zipRight(Deferred.await(failed), Effect.fail("first in order")))
      yield* point.use("early", () =>
        Effect.zipRight(Deferred.succeed(failed, undefined), Effect.fail("first in time"))
      )
      yield* point.use("slow", () => Effect.zipRight(Deferred.await(failed), note("finished")))
      assert.strictEqual(yield* Effect.flip(point.run("in")), "first in order")
      assert.deepStrictEqual(entries, ["finished"])
    })
  )

  it.scoped("a defect counts as a failure and stops nobody", () =>
    Effect.gen(function* () {
      const point = yield* Together
      const { entries, note } = journal()
      yield* point.use("throws", (): Effect.Effect<void> => {
        throw new Error("no")
      })
      yield* point.use("finishes", note)
      const exit = yield* Effect.exit(point.run("in"))
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      assert.deepStrictEqual(entries, ["in"])
    })
  )
})

describe("a hook as a Layer", () => {
  it.effect("takes what the handler needs from where it is built", () =>
    Effect.gen(function* () {
      const { entries, note } = journal()
      const hook = Observed.hook("who", () => Effect.flatMap(Who, note)).pipe(
        Layer.provide(Layer.succeed(Who, "builder"))
      )
      yield* Effect.flatMap(Observed, (point) => point.emit("in")).pipe(
        Effect.provide(Layer.provideMerge(hook, Observed.layer))
      )
      assert.deepStrictEqual(entries, ["builder"])
    })
  )
})
