import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Scope, Stream } from "effect"
import * as Realm from "../src/Realm.ts"
import * as Registry from "../src/Registry.ts"

const fork = <A>(registry: Registry.Registry<A>) => registry[Realm.Fork]()

/** Registers in a Scope that the returned effect closes. */
const closable = Effect.fnUntraced(function* <A>(registry: Registry.Registry<A>, name: string, value: A) {
  const scope = yield* Scope.make()
  yield* Scope.extend(registry.register(name, value), scope)
  return { close: Scope.close(scope, Exit.void) }
})

/** Records the changes a registry publishes; `seen` waits until everything published so far was recorded. */
const watch = Effect.fnUntraced(function* (registry: Registry.Registry<number>) {
  const seen: Array<string> = []
  yield* Effect.forkScoped(
    Stream.runForEach(registry.changes, ({ _tag, name, value }) =>
      Effect.sync(() => void seen.push(`${_tag} ${name}=${value}`))
    )
  )
  const marked = Effect.scoped(registry.register("mark", 0)).pipe(
    Effect.zipRight(Effect.yieldNow()),
    Effect.repeat({ until: () => seen.at(-1) === "Removed mark=0" })
  )
  yield* marked
  seen.length = 0
  return { seen: Effect.map(marked, () => seen.splice(0).filter((line) => !line.includes("mark"))) }
})

layer(Layer.empty)("Registry", (it) => {
  it.scoped("gives back what was registered, in order of insertion", () =>
    Effect.gen(function* () {
      const registry = Registry.make<number>("numbers")
      yield* registry.register("b", 2)
      yield* registry.register("a", 1)
      assert.deepStrictEqual(registry.get("a"), Option.some(1))
      assert.deepStrictEqual(registry.get("c"), Option.none())
      assert.deepStrictEqual(registry.entries(), [
        ["b", 2],
        ["a", 1]
      ])
      assert.deepStrictEqual(registry.own(), registry.entries())
    })
  )

  it.scoped("knows only names that were registered, whatever objects inherit", () =>
    Effect.gen(function* () {
      const registry = Registry.make<number>("numbers")
      assert.deepStrictEqual(registry.get("constructor"), Option.none())
      yield* registry.register("__proto__", 1)
      assert.deepStrictEqual(registry.get("__proto__"), Option.some(1))
    })
  )

  it.scoped("refuses a name that is taken in the same layer, and keeps the first", () =>
    Effect.gen(function* () {
      const registry = Registry.make<number>("numbers")
      yield* registry.register("a", 1)
      const error = yield* Effect.flip(Effect.scoped(registry.register("a", 2)))
      assert.strictEqual(error.code, "DUPLICATE_NAME")
      assert.strictEqual(error.message, '"a" is already registered in numbers; remove one of the two or rename it')
      assert.deepStrictEqual(registry.get("a"), Option.some(1))
    })
  )

  it.scoped("an entry goes with its Scope, and only that entry", () =>
    Effect.gen(function* () {
      const registry = Registry.make<number>("numbers")
      const { close } = yield* closable(registry, "a", 1)
      yield* registry.register("b", 2)
      yield* close
      assert.deepStrictEqual(registry.entries(), [["b", 2]])
      yield* registry.register("a", 3)
      yield* close
      assert.deepStrictEqual(registry.entries(), [
        ["b", 2],
        ["a", 3]
      ])
    })
  )

  it.scoped("the nearest layer wins, and what it hid comes back", () =>
    Effect.gen(function* () {
      const root = Registry.make<number>("numbers")
      const realm = fork(root)
      yield* root.register("a", 1)
      yield* root.register("b", 2)
      const { close } = yield* closable(realm, "a", 10)
      yield* realm.register("c", 30)
      assert.deepStrictEqual(realm.get("a"), Option.some(10))
      assert.deepStrictEqual(realm.entries(), [
        ["b", 2],
        ["a", 10],
        ["c", 30]
      ])
      assert.deepStrictEqual(realm.own(), [
        ["a", 10],
        ["c", 30]
      ])
      assert.deepStrictEqual(root.entries(), [
        ["a", 1],
        ["b", 2]
      ])
      yield* close
      assert.deepStrictEqual(realm.entries(), [
        ["a", 1],
        ["b", 2],
        ["c", 30]
      ])
    })
  )

  it.scoped("a realm never sees a sibling", () =>
    Effect.gen(function* () {
      const root = Registry.make<number>("numbers")
      yield* fork(root).register("a", 1)
      assert.deepStrictEqual(fork(root).entries(), [])
      assert.deepStrictEqual(fork(fork(root)).get("a"), Option.none())
    })
  )

  it.scoped("version grows with every change that can be seen, and with no other", () =>
    Effect.gen(function* () {
      const root = Registry.make<number>("numbers")
      const realm = fork(root)
      const versions = [realm.version()]
      const note = Effect.sync(() => void versions.push(realm.version()))
      const { close } = yield* closable(root, "a", 1)
      yield* note
      yield* realm.register("a", 2)
      yield* note
      yield* close
      yield* note
      assert.deepStrictEqual(
        versions,
        [...new Set(versions)].sort((a, b) => a - b)
      )
      yield* fork(root).register("a", 3)
      yield* fork(realm).register("a", 3)
      assert.strictEqual(realm.version(), versions.at(-1))
    })
  )

  it.scoped("changes are those of the layer and of its ancestors", () =>
    Effect.gen(function* () {
      const root = Registry.make<number>("numbers")
      const realm = fork(root)
      const { seen: seenByRealm } = yield* watch(realm)
      const { seen: seenByRoot } = yield* watch(root)
      const { close } = yield* closable(root, "a", 1)
      yield* realm.register("a", 2)
      yield* fork(root).register("a", 3)
      yield* fork(realm).register("a", 4)
      yield* close
      assert.deepStrictEqual(yield* seenByRealm, ["Added a=1", "Added a=2", "Removed a=1"])
      assert.deepStrictEqual(yield* seenByRoot, ["Added a=1", "Removed a=1"])
    })
  )

  it.scoped("a refused registration is no change", () =>
    Effect.gen(function* () {
      const registry = Registry.make<number>("numbers")
      yield* registry.register("a", 1)
      const { seen } = yield* watch(registry)
      yield* Effect.exit(Effect.scoped(registry.register("a", 2)))
      assert.deepStrictEqual(yield* seen, [])
    })
  )

  it.scoped("a slow reader of changes misses none", () =>
    Effect.gen(function* () {
      const registry = Registry.make<number>("numbers")
      const { seen } = yield* watch(registry)
      for (let i = 0; i < 1000; i++) yield* registry.register(`n${i}`, i)
      assert.strictEqual((yield* seen).length, 1000)
    })
  )
})
