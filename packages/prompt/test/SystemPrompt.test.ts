import * as Realm from "@dsh/kernel/Realm"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SystemPrompt, layerContext, layerSection } from "../src/SystemPrompt.ts"
import { base, newSession, contextOf, rendered } from "./support.ts"

const fork = (prompt: SystemPrompt["Type"]) => prompt[Realm.Fork]()
const named = (items: ReadonlyArray<{ readonly name: string }>) => items.map(({ name }) => name).join(" ")
const section = (name: string, order = 0, text = name) => ({ name, order, text })

layer(base)("SystemPrompt", (it) => {
  it.scoped("keeps sections and contexts by order, ties in order of registration", () =>
    Effect.gen(function* () {
      const prompt = yield* SystemPrompt
      for (const [name, order] of [
        ["tools", 100],
        ["b", 0],
        ["a", 0],
        ["identity", -100],
        ["more tools", 100]
      ] as const) {
        yield* prompt.section(section(name, order))
        yield* prompt.context(section(name, -order))
      }
      assert.strictEqual(named(prompt.sections()), "identity b a tools more tools")
      assert.strictEqual(named(prompt.contexts()), "tools more tools b a identity")
    })
  )

  it.scoped("refuses a name that is taken, each kind by itself", () =>
    Effect.gen(function* () {
      const prompt = yield* SystemPrompt
      yield* prompt.section(section("a"))
      yield* prompt.context(section("a"))
      yield* prompt.variable("a", () => "x")
      const again = [prompt.section(section("a", 5)), prompt.context(section("a")), prompt.variable("a", () => "y")]
      const errors = yield* Effect.forEach(again, Effect.flip)
      assert.deepStrictEqual(
        errors.map(({ code, message }) => `${code} ${message.split(";")[0]}`),
        [
          'DUPLICATE_NAME "a" is already registered in the prompt sections',
          'DUPLICATE_NAME "a" is already registered in the runtime contexts',
          'DUPLICATE_NAME "a" is already registered in the prompt variables'
        ]
      )
      assert.strictEqual(prompt.sections()[0]!.order, 0)
    })
  )

  it.scoped("takes lower-case identifiers as names of variables", () =>
    Effect.gen(function* () {
      const prompt = yield* SystemPrompt
      for (const name of ["a", "cwd", "a_1"]) yield* prompt.variable(name, () => "x")
      for (const name of ["", "A", "1a", "_a", "a-b", "a b", "__proto__", "ä"]) {
        const { code, message } = yield* Effect.flip(prompt.variable(name, () => "x"))
        assert.strictEqual(code, "INVALID_NAME")
        assert.include(message, `"${name}" cannot name a prompt variable`)
      }
      assert.deepStrictEqual([...prompt.variables().keys()], ["a", "cwd", "a_1"])
    })
  )

  it.effect("a contribution goes with its Scope", () =>
    Effect.gen(function* () {
      const prompt = yield* SystemPrompt
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* prompt.section(section("a"))
          yield* prompt.context(section("a"))
          yield* prompt.variable("a", () => "x")
          yield* prompt.suppressContexts
        })
      )
      assert.deepStrictEqual(prompt.sections(), [])
      assert.deepStrictEqual(prompt.contexts(), [])
      assert.strictEqual(prompt.variables().size, 0)
      yield* Effect.scoped(
        Effect.zipRight(
          prompt.context(section("a")),
          Effect.sync(() => assert.strictEqual(named(prompt.contexts()), "a"))
        )
      )
    })
  )

  it.effect("a contribution may come as a Layer", () =>
    Effect.gen(function* () {
      const text = yield* Effect.provide(rendered, layerSection(section("layered")))
      assert.strictEqual(text, "layered")
      const context = Layer.mergeAll(layerContext(section("now")), layerSection(section("also")))
      const prompt = yield* SystemPrompt
      const seen = Effect.sync(() => [named(prompt.contexts()), named(prompt.sections())])
      assert.deepStrictEqual(yield* Effect.provide(seen, context), ["now", "also"])
      assert.deepStrictEqual(yield* seen, ["", ""])
    }).pipe(Effect.scoped)
  )
})

layer(base)("SystemPrompt in realms", (it) => {
  it.scoped("the nearest contribution of a name counts, with its own order; the hidden one is never evaluated", () =>
    Effect.gen(function* () {
      const root = yield* SystemPrompt
      const realm = fork(root)
      yield* root.section({ name: "a", order: 0, text: () => Effect.die("hidden, and evaluated all the same") })
      yield* root.section(section("b", 1))
      yield* root.variable("v", () => "outer")
      yield* realm.section(section("a", 2, "inner"))
      yield* realm.variable("v", () => "inner")
      assert.strictEqual(named(realm.sections()), "b a")
      assert.strictEqual(named(root.sections()), "a b")
      const context = contextOf(yield* newSession)
      assert.strictEqual(realm.variables().get("v")!(context), "inner")
      assert.strictEqual(root.variables().get("v")!(context), "outer")
      assert.strictEqual(yield* Effect.provideService(rendered, SystemPrompt, realm), "b\n\ninner")
    })
  )

  it.scoped("what a realm adds is seen below it only", () =>
    Effect.gen(function* () {
      const root = yield* SystemPrompt
      const realm = fork(root)
      yield* realm.context(section("own"))
      assert.strictEqual(named(fork(realm).contexts()), "own")
      assert.strictEqual(named(fork(root).contexts()), "")
      assert.strictEqual(named(root.contexts()), "")
    })
  )

  it.scoped("suppression holds for the realm and those below, as long as anybody wants it", () =>
    Effect.gen(function* () {
      const root = yield* SystemPrompt
      const realm = fork(root)
      const child = fork(realm)
      yield* root.context(section("now"))
      const seen = () => [root, realm, child, fork(root)].map((prompt) => named(prompt.contexts()))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* realm.suppressContexts
          yield* Effect.scoped(realm.suppressContexts)
          assert.deepStrictEqual(seen(), ["now", "", "", "now"])
        })
      )
      assert.deepStrictEqual(seen(), ["now", "now", "now", "now"])
    })
  )
})
