import { assert, layer } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Option, Scope } from "effect"
import * as Realm from "../src/Realm.ts"
import { Who, journal, modes, points } from "./support.ts"
import type { Points } from "./support.ts"

/** A Scope of its own for one registration. */
const closable = Effect.map(Scope.make(), (scope) => ({
  scope,
  close: Scope.close(scope, Exit.void),
  in: <A, E, R>(effect: Effect.Effect<A, E, R>) => Scope.extend(effect, scope)
}))

for (const mode of modes) {
  layer(points)(`Hook, mode ${mode.name}`, (it) => {
    it.scoped("runs handlers by order, equals in order of registration", () =>
      Effect.gen(function* () {
        const { entries, note } = journal()
        yield* mode.add("b", note("b"))
        yield* mode.add("z", note("z"), { order: 10 })
        yield* mode.add("c", note("c"))
        yield* mode.add("a", note("a"), { order: -10 })
        assert.deepStrictEqual(yield* mode.names, ["a", "b", "c", "z"])
        yield* mode.dispatch
        assert.deepStrictEqual(entries, ["a", "b", "c", "z"])
      })
    )

    it.effect("does nothing without handlers", () => mode.dispatch)

    it.scoped("a handler whose Scope closed is gone, the others stay", () =>
      Effect.gen(function* () {
        const { entries, note } = journal()
        const first = yield* closable
        yield* mode.add("stays", note("stays"))
        yield* first.in(mode.add("goes", note("goes"), { order: -1 }))
        yield* mode.dispatch
        yield* first.close
        yield* mode.dispatch
        assert.deepStrictEqual(entries, ["goes", "stays", "stays"])
        assert.deepStrictEqual(yield* mode.names, ["stays"])
      })
    )

    it.effect("a handler that came as a Layer goes with it", () =>
      Effect.gen(function* () {
        const { entries, note } = journal()
        yield* Effect.provide(mode.dispatch, mode.layer("layered", note("layered")))
        yield* mode.dispatch
        assert.deepStrictEqual(entries, ["layered"])
      })
    )

    it.scoped("a name is free again once its Scope closed, and the successor outlives it", () =>
      Effect.gen(function* () {
        const { entries, note } = journal()
        const first = yield* closable
        yield* first.in(mode.add("same", note("first")))
        yield* first.close
        yield* mode.add("same", note("second"))
        yield* first.close
        yield* mode.dispatch
        assert.deepStrictEqual(entries, ["second"])
      })
    )

    it.scoped("a duplicate name is a mistake of the program and leaves the first in place", () =>
      Effect.gen(function* () {
        const { entries, note } = journal()
        yield* mode.add("same", note("first"))
        const exit = yield* Effect.exit(Effect.scoped(mode.add("same", note("second"))))
        assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
        assert.include(String(Exit.isFailure(exit) && Cause.squash(exit.cause)), '"same" is already registered')
        yield* mode.dispatch
        assert.deepStrictEqual(entries, ["first"])
      })
    )

    it.scoped("a dispatch keeps the handlers it began with", () =>
      Effect.gen(function* () {
        const { entries, note } = journal()
        const last = yield* closable
        const late = yield* closable
        yield* mode.add("changes", Effect.zipRight(last.close, late.in(mode.add("late", note("late")))))
        yield* last.in(mode.add("closed", note("closed")))
        yield* mode.dispatch
        assert.deepStrictEqual(entries, ["closed"])
        assert.deepStrictEqual(yield* mode.names, ["changes", "late"])
        yield* late.close
      })
    )

    it.scoped("a realm sees its ancestors and itself, by order, and never a sibling", () =>
      Effect.gen(function* () {
        const { entries, note } = journal()
        const left = Realm.fork(yield* Effect.context<Points>())
        const right = Realm.fork(left)
        const sibling = Realm.fork(left)
        yield* Effect.provide(mode.add("leaf", note("leaf")), right)
        yield* Effect.provide(mode.add("left", note("left"), { order: 1 }), left)
        yield* mode.add("root", note("root"))
        yield* Effect.provide(mode.dispatch, right)
        assert.deepStrictEqual(entries.splice(0), ["root", "leaf", "left"])
        yield* Effect.provide(mode.dispatch, sibling)
        assert.deepStrictEqual(entries.splice(0), ["root", "left"])
        yield* mode.dispatch
        assert.deepStrictEqual(entries, ["root"])
      })
    )

    it.scoped("a realm and its parent may use one name, and each goes with its own Scope", () =>
      Effect.gen(function* () {
        const { entries, note } = journal()
        const realm = Realm.fork(yield* Effect.context<Points>())
        const inner = yield* closable
        const outer = yield* closable
        yield* outer.in(mode.add("same", note("outer")))
        yield* inner.in(Effect.provide(mode.add("same", note("inner")), realm))
        yield* Effect.provide(mode.dispatch, realm)
        yield* inner.close
        yield* Effect.provide(mode.dispatch, realm)
        yield* outer.close
        yield* Effect.provide(mode.dispatch, realm)
        assert.deepStrictEqual(entries, ["outer", "inner", "outer"])
      })
    )

    it.scoped("a handler has the services of its registrant", () =>
      Effect.gen(function* () {
        const { entries, note } = journal()
        yield* Effect.provideService(mode.add("who", Effect.flatMap(Who, note)), Who, "registrant")
        yield* mode.dispatch
        yield* Effect.provideService(mode.dispatch, Who, "caller")
        assert.deepStrictEqual(entries, ["registrant", "registrant"])
      })
    )

    it.scoped("a handler has the extension points of the realm it is dispatched in", () =>
      Effect.gen(function* () {
        const { entries, note } = journal()
        const realm = Realm.fork(yield* Effect.context<Points>())
        const other = modes.find(({ name }) => name !== mode.name)!
        yield* mode.add("asks", Effect.orDie(Effect.flatMap(other.names, (names) => note(names.join()))))
        yield* Effect.provide(other.add("of the realm", Effect.void), realm)
        yield* Effect.provide(mode.dispatch, realm)
        yield* mode.dispatch
        assert.deepStrictEqual(entries, ["of the realm", ""])
      })
    )

    it.scoped("a handler's spans hang below the caller's, never below its registration", () =>
      Effect.gen(function* () {
        const { entries, note } = journal()
        const parent = Effect.flatMap(Effect.option(Effect.currentParentSpan), (span) =>
          note(
            Option.match(span, { onNone: () => "none", onSome: (at) => (at._tag === "Span" ? at.name : "external") })
          )
        )
        yield* Effect.withSpan(mode.add("traced", parent), "registration")
        yield* Effect.withSpan(mode.dispatch, "caller")
        yield* mode.dispatch
        assert.deepStrictEqual(entries, ["caller", "none"])
      })
    )

    it.scoped("what a handler acquires belongs to the caller's Scope", () =>
      Effect.gen(function* () {
        const { entries, note } = journal()
        const registration = yield* closable
        yield* registration.in(
          mode.add(
            "acquires",
            Effect.addFinalizer(() => note("released"))
          )
        )
        yield* Effect.scoped(Effect.zipRight(mode.dispatch, note("dispatched")))
        assert.deepStrictEqual(entries, ["dispatched", "released"])
        yield* registration.close
        assert.deepStrictEqual(entries, ["dispatched", "released"])
      })
    )

    it.scoped("interrupting the dispatch interrupts the handler and ends it", () =>
      Effect.gen(function* () {
        const { entries, note } = journal()
        const reached = yield* Deferred.make<void>()
        yield* mode.add(
          "waits",
          Effect.onInterrupt(Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never), () =>
            note("interrupted")
          )
        )
        const fiber = yield* Effect.fork(Effect.zipRight(mode.dispatch, note("went on")))
        yield* Deferred.await(reached)
        const exit = yield* Fiber.interrupt(fiber)
        assert.isTrue(Exit.isInterrupted(exit))
        assert.deepStrictEqual(entries, ["interrupted"])
      })
    )
  })
}
