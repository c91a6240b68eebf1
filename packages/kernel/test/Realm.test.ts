import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Option, Scope, Tracer } from "effect"
import * as Realm from "../src/Realm.ts"
import * as Registry from "../src/Registry.ts"
import { Who } from "./support.ts"

class Names extends Context.Tag("test/Names")<Names, Registry.Registry<number>>() {}

const register = (name: string, value: number) => Effect.flatMap(Names, (names) => names.register(name, value))
const entries = Effect.map(Names, (names) => names.entries())

const root = () => Context.make(Names, Registry.make<number>("names")).pipe(Context.add(Who, "root"))

describe("Realm", () => {
  it("provides registries again and shares everything else", () => {
    const parent = root()
    const realm = Realm.fork(parent)
    assert.notStrictEqual(Context.get(realm, Names), Context.get(parent, Names))
    assert.strictEqual(Context.get(realm, Who), "root")
  })

  it("takes neither scope nor span along", () => {
    const scope = Effect.runSync(Scope.make())
    const span = Tracer.externalSpan({ traceId: "t", spanId: "s" })
    const parent = root().pipe(Context.add(Scope.Scope, scope), Context.add(Tracer.ParentSpan, span))
    const realm = Realm.fork(parent)
    assert.deepStrictEqual(Context.getOption(realm, Scope.Scope), Option.none())
    assert.deepStrictEqual(Context.getOption(realm, Tracer.ParentSpan), Option.none())
  })

  it.scoped("is a chain: root, preset, agent", () =>
    Effect.gen(function* () {
      const preset = Realm.fork(root())
      const agent = Realm.fork(preset)
      const other = Realm.fork(preset)
      yield* Effect.provide(register("of the preset", 1), preset)
      yield* Effect.provide(register("of the agent", 2), agent)
      assert.deepStrictEqual(yield* Effect.provide(entries, agent), [
        ["of the preset", 1],
        ["of the agent", 2]
      ])
      assert.deepStrictEqual(yield* Effect.provide(entries, other), [["of the preset", 1]])
    })
  )

  it.scoped("within: what is registered inside is gone for everybody else", () =>
    Effect.gen(function* () {
      yield* register("outside", 1)
      const inside = yield* Realm.within(Effect.zipRight(register("inside", 2), entries))
      assert.deepStrictEqual(inside, [
        ["outside", 1],
        ["inside", 2]
      ])
      assert.deepStrictEqual(yield* entries, [["outside", 1]])
    }).pipe(Effect.provide(root()))
  )

  it.scoped("within: scope and span are those of whoever runs there", () =>
    Effect.gen(function* () {
      const outer = yield* Scope.Scope
      const [scope, span] = yield* Realm.within(Effect.all([Scope.Scope, Effect.currentSpan]))
      assert.strictEqual(scope, outer)
      assert.strictEqual(span.name, "caller")
    }).pipe(Effect.withSpan("caller"))
  )
})
