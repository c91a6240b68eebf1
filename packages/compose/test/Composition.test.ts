// Compositions that run: order, realms, dynamic values, and change while they run.
import { assert, describe, it } from "@effect/vitest"
import * as Plugin from "@dsh/kernel/Plugin"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import * as Catalogue from "../src/Catalogue.ts"
import * as Compose from "../src/Compose.ts"
import { EnvValue, PathValue, PlatformValue } from "../src/Dynamic.ts"
import type { Row } from "../src/Row.ts"
import * as Rows from "../src/Row.ts"
import { Clock, House, Lamp, journal, means } from "./support.ts"

const compose = (...rows: ReadonlyArray<Row>) => Compose.compose({ layers: [Rows.rows("test", rows)], means })

const start = (...rows: ReadonlyArray<Row>) =>
  Effect.flatMap(compose(...rows), (composed) => {
    journal.length = 0
    return Compose.start(composed)
  })

const clock: Row = { id: "clock", name: "clock" }
const lamp: Row = { id: "lamp", name: "lamp" }
const house: Row = { id: "house", name: "house" }

const taken = () => journal.splice(0)

describe("a composition", () => {
  it.effect("is built in the order of needs, whatever the order of rows, and taken down in reverse", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const composition = yield* Scope.extend(start(house, lamp, clock), scope)
      assert.deepStrictEqual(taken(), ["+clock UTC", "+lamp", "+house"])
      assert.strictEqual(
        Context.unsafeGet(composition.context() as Context.Context<House>, House),
        "house with lamp at UTC"
      )
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(taken(), ["-house", "-lamp", "-clock UTC"])
    })
  )

  it.scoped("loads no plugin of a row that is switched off", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const catalogue = {
        ...means.catalogue,
        find: (name: string) => {
          asked.push(name)
          return means.catalogue.find(name)
        }
      }
      const rows = [
        clock,
        { ...lamp, disabled: true },
        { id: "g", disabled: new PlatformValue(["linux"]), group: [house] },
        { id: "off", name: "sundial", disabled: new EnvValue("ON") }
      ]
      yield* Compose.compose({ layers: [Rows.rows("test", rows)], means: { ...means, catalogue } })
      assert.deepStrictEqual(asked, ["clock"])
    })
  )

  it.scoped("knows its surroundings: variables, folders, the platform", () =>
    Effect.gen(function* () {
      const zone = (value: unknown) =>
        Effect.scoped(
          Effect.map(start({ ...clock, config: { zone: value } }), (composition) =>
            Context.unsafeGet(composition.context() as Context.Context<Clock>, Clock)
          )
        )
      assert.strictEqual(yield* zone(new EnvValue("ZONE")), "CET")
      assert.strictEqual(yield* zone(new EnvValue("NO_ZONE", "EST")), "EST")
      assert.strictEqual(yield* zone(new EnvValue("NO_ZONE")), "UTC")
      assert.strictEqual(yield* zone(new PathValue("home", "x/y")), "/home/u/.dsh/x/y")
      assert.strictEqual(yield* zone(new PathValue("cwd", "")), "/work")
    })
  )

  it.scoped("keeps what an isolated group provides to itself, and lets it see what is outside", () =>
    Effect.gen(function* () {
      const composition = yield* start(clock, {
        id: "inner",
        isolate: true,
        group: [{ id: "own-clock", name: "clock", config: { zone: "own" } }, lamp]
      })
      const context = composition.context()
      assert.strictEqual(Context.unsafeGet(context as Context.Context<Clock>, Clock), "UTC")
      assert.isFalse(context.unsafeMap.has(Lamp.key))
      assert.deepStrictEqual(taken(), ["+clock UTC", "+clock own", "+lamp"])
      const borrowed = yield* start(clock, { id: "inner", isolate: true, group: [lamp, house] })
      assert.deepStrictEqual(taken(), ["+clock UTC", "+lamp", "+house"])
      assert.isFalse(borrowed.context().unsafeMap.has(House.key))
    })
  )

  it.scoped(
    "inside of another is no other to be found: what is dispatched across the border has nothing to switch",
    () =>
      Effect.gen(function* () {
        const outer = yield* start(clock)
        const layers = [Rows.rows("preset", [{ id: "g", isolate: true, group: [lamp] }])]
        const inside = yield* Compose.compose({ layers, means, given: outer.context(), isRealm: true })
        const inner = yield* Compose.start(inside, outer.context())
        for (const [key, service] of outer.context().unsafeMap) {
          assert.strictEqual(inner.context().unsafeMap.get(key), service, key)
        }
      })
  )

  it.effect("of which a row fails starts what does not need it, takes it down again, and tells of every failure", () =>
    Effect.gen(function* () {
      const burnt = (id: string): Row => ({ id, name: "toaster", config: { minutes: 9 } })
      const error = yield* Effect.flip(Effect.scoped(start(burnt("one"), clock, burnt("two"))))
      assert.deepStrictEqual(
        error.problems.map(({ row }) => row),
        ["one", "two"]
      )
      assert.deepStrictEqual(taken(), ["+clock UTC", "-clock UTC"])
    })
  )
})

describe("a composition that is given up while it starts", () => {
  it.effect("leaves nothing open", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const slow = Plugin.make({
        name: "slow",
        requires: [Lamp],
        layer: () =>
          Layer.scopedDiscard(
            Effect.acquireRelease(
              Effect.sync(() => journal.push("+slow")),
              () => Effect.sync(() => journal.push("-slow"))
            ).pipe(Effect.zipRight(Deferred.succeed(begun, undefined)), Effect.zipRight(Effect.never))
          )
      })
      const layers = [Rows.rows("test", [clock, lamp, { id: "slow", name: "slow" }])]
      const own = { ...means, catalogue: Catalogue.including(means.catalogue, [slow]) }
      const composed = yield* Compose.compose({ layers, means: own })
      journal.length = 0
      const fiber = yield* Effect.fork(Effect.scoped(Compose.start(composed)))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(taken(), ["+clock UTC", "+lamp", "+slow", "-slow", "-lamp", "-clock UTC"])
    })
  )
})

describe("a composition that changes while it runs", () => {
  const change = (composition: Effect.Effect.Success<ReturnType<typeof Compose.start>>, ...rows: ReadonlyArray<Row>) =>
    Effect.flatMap(compose(...rows), ({ graph }) => composition.change(graph))

  it.scoped("restarts the rows that differ and those that need them, and nothing else", () =>
    Effect.gen(function* () {
      const composition = yield* start(clock, lamp, house, { id: "toast", name: "toaster", config: { minutes: 1 } })
      taken()
      const summary = yield* change(composition, clock, lamp, house, {
        id: "toast",
        name: "toaster",
        config: { minutes: 2 }
      })
      assert.deepStrictEqual(summary, { added: [], removed: [], restarted: ["toast"] })
      assert.deepStrictEqual(taken(), [])
      const deeper = yield* change(composition, { ...clock, config: { zone: "CET" } }, lamp, house)
      assert.deepStrictEqual(deeper, { added: [], removed: ["toast"], restarted: ["clock", "lamp", "house"] })
      assert.deepStrictEqual(taken(), ["-house", "-lamp", "-clock UTC", "+clock CET", "+lamp", "+house"])
      assert.strictEqual(
        Context.unsafeGet(composition.context() as Context.Context<House>, House),
        "house with lamp at CET"
      )
    })
  )

  it.scoped("adds and removes rows", () =>
    Effect.gen(function* () {
      const composition = yield* start(clock)
      taken()
      assert.deepStrictEqual((yield* change(composition, clock, lamp)).added, ["lamp"])
      assert.deepStrictEqual((yield* change(composition, clock)).removed, ["lamp"])
      assert.deepStrictEqual(taken(), ["+lamp", "-lamp"])
      assert.isFalse(composition.context().unsafeMap.has(Lamp.key))
    })
  )

  it.scoped("goes back to what it was when a row cannot start", () =>
    Effect.gen(function* () {
      const composition = yield* start(clock, lamp)
      taken()
      const error = yield* Effect.flip(
        change(composition, { ...clock, config: { zone: "CET" } }, lamp, {
          id: "toast",
          name: "toaster",
          config: { minutes: 9 }
        })
      )
      assert.strictEqual(error.code, "BURNT")
      assert.strictEqual(Context.unsafeGet(composition.context() as Context.Context<Clock>, Clock), "UTC")
      assert.deepStrictEqual(
        composition.rows().map(({ row }) => row.id),
        ["clock", "lamp"]
      )
      assert.deepStrictEqual(taken().slice(-2), ["+clock UTC", "+lamp"])
    })
  )
})
