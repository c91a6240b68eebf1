import * as Realm from "@dsh/kernel/Realm"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, ExecutionStrategy, Exit, Layer, Option, Scope } from "effect"
import * as Pipeline from "../src/ToolPipeline.ts"
import * as Tools from "../src/Tools.ts"
import { base, call, doing, echo, textOf } from "./support.ts"

const named = (name: string, answer = name) => doing(name, () => Effect.succeed(answer))
const names = (tools: Tools.Tools["Type"]) => tools.list().map(({ name }) => name)
const fork = (tools: Tools.Tools["Type"]) => tools[Realm.Fork]()

const closable = Effect.fnUntraced(function* <E>(effect: Effect.Effect<void, E, Scope.Scope>) {
  const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
  yield* Scope.extend(effect, scope)
  return { close: Scope.close(scope, Exit.void) }
})

layer(base)("Tools", (it) => {
  it.scoped("lists tools by name in code-unit order, whoever came first", () =>
    Effect.gen(function* () {
      const tools = yield* Tools.Tools
      for (const name of ["b", "a", "Z", "a_b", "a-b"]) yield* tools.register(named(name))
      assert.deepStrictEqual(names(tools), ["Z", "a", "a-b", "a_b", "b"])
      assert.deepStrictEqual(tools.schemas()[1], {
        name: "a",
        description: "Does a.",
        parameters: { type: "object", properties: {}, additionalProperties: false }
      })
      assert.isUndefined(tools.get("c"))
    })
  )

  it.scoped("refuses a taken name and a name that no provider would take", () =>
    Effect.gen(function* () {
      const tools = yield* Tools.Tools
      yield* tools.register(named("a"))
      const taken = yield* Effect.flip(tools.register(named("a", "other")))
      assert.strictEqual(taken.code, "DUPLICATE_NAME")
      assert.include(taken.message, '"a" is already registered in the tools')
      for (const name of ["", "a b", "a.b", "ä", "x".repeat(65)]) {
        const { code, message } = yield* Effect.flip(tools.register(named(name)))
        assert.strictEqual(code, "INVALID_NAME")
        assert.include(message, `"${name}" cannot name a tool`)
      }
      assert.deepStrictEqual(names(tools), ["a"])
    })
  )

  it.scoped("a tool goes with its Scope", () =>
    Effect.gen(function* () {
      const tools = yield* Tools.Tools
      const { close } = yield* closable(tools.register(named("a")))
      assert.deepStrictEqual(names(tools), ["a"])
      yield* close
      assert.deepStrictEqual(names(tools), [])
    })
  )

  it.scoped("schemas are the same array until something changes", () =>
    Effect.gen(function* () {
      const root = yield* Tools.Tools
      const realm = fork(root)
      yield* root.register(named("a"))
      const before = realm.schemas()
      assert.strictEqual(realm.schemas(), before)
      const changes = [root.register(named("b")), realm.register(named("c")), realm.restrict({ deny: ["b"] })]
      const seen = [before]
      for (const change of changes) {
        const { close } = yield* closable(change)
        seen.push(realm.schemas())
        if (change === changes.at(-1)) yield* close
      }
      seen.push(realm.schemas())
      assert.deepStrictEqual(
        seen.map((schemas) => schemas.map(({ name }) => name).join("")),
        ["a", "ab", "abc", "ac", "abc"]
      )
    })
  )

  it.scoped("a realm adds and shadows for itself, never for its parent or a sibling", () =>
    Effect.gen(function* () {
      const root = yield* Tools.Tools
      const realm = fork(root)
      const sibling = fork(root)
      const outer = named("a", "outer")
      const inner = named("a", "inner")
      yield* root.register(outer)
      const { close } = yield* closable(realm.register(inner))
      yield* realm.register(named("b"))
      assert.strictEqual(realm.get("a"), inner)
      assert.strictEqual(root.get("a"), outer)
      assert.deepStrictEqual([names(realm), names(root), names(sibling)], [["a", "b"], ["a"], ["a"]])
      yield* close
      assert.strictEqual(realm.get("a"), outer)
    })
  )
})

layer(base)("Tools.restrict", (it) => {
  it.scoped("narrows what is inherited; several filters intersect along the chain", () =>
    Effect.gen(function* () {
      const root = yield* Tools.Tools
      for (const name of ["a", "b", "c", "d"]) yield* root.register(named(name))
      const preset = fork(root)
      const agent = fork(preset)
      yield* preset.restrict({ allow: ["a", "b", "c"] })
      yield* agent.restrict({ deny: ["a"] })
      const { close } = yield* closable(agent.restrict({ allow: ["a", "b"], deny: [] }))
      assert.deepStrictEqual([names(root), names(preset), names(agent)], [["a", "b", "c", "d"], ["a", "b", "c"], ["b"]])
      assert.isUndefined(agent.get("d"))
      yield* close
      assert.deepStrictEqual(names(agent), ["b", "c"])
    })
  )

  it.scoped("spares what the realm registered itself, also under a name it denies", () =>
    Effect.gen(function* () {
      const root = yield* Tools.Tools
      yield* root.register(named("a", "outer"))
      const realm = fork(root)
      const inner = named("a", "inner")
      yield* realm.restrict({ allow: [] })
      assert.deepStrictEqual(names(realm), [])
      yield* realm.register(inner)
      yield* realm.register(named("own"))
      assert.strictEqual(realm.get("a"), inner)
      assert.deepStrictEqual(names(realm), ["a", "own"])
      assert.deepStrictEqual(names(fork(realm)), ["a", "own"])
    })
  )

  it.scoped("follows the live registry", () =>
    Effect.gen(function* () {
      const root = yield* Tools.Tools
      const { close } = yield* closable(root.register(named("a")))
      const realm = fork(root)
      yield* realm.restrict({ deny: ["a"] })
      yield* root.register(named("b"))
      assert.deepStrictEqual(names(realm), ["b"])
      yield* close
      yield* root.register(named("a"))
      assert.deepStrictEqual(names(realm), ["b"])
    })
  )

  it.scoped("refuses names that nobody knows, and a filter that filters nothing", () =>
    Effect.gen(function* () {
      const tools = yield* Tools.Tools
      yield* tools.register(named("a"))
      const unknown = yield* Effect.flip(tools.restrict({ allow: ["a", "x"], deny: ["y"] }))
      assert.strictEqual(unknown.code, "UNKNOWN_TOOL")
      assert.strictEqual(unknown.message, "the tool filter names x, y, which nobody registered; known: a")
      for (const filter of [{}, { deny: [] }]) {
        assert.strictEqual((yield* Effect.flip(tools.restrict(filter))).code, "EMPTY_FILTER")
      }
    })
  )

  it.scoped("one filter that two set ends with each", () =>
    Effect.gen(function* () {
      const root = yield* Tools.Tools
      yield* root.register(named("a"))
      const realm = fork(root)
      const filter = { deny: ["a"] }
      const first = yield* closable(realm.restrict(filter))
      const second = yield* closable(realm.restrict(filter))
      yield* first.close
      assert.deepStrictEqual(names(realm), [])
      yield* second.close
      assert.deepStrictEqual(names(realm), ["a"])
    })
  )
})

layer(base)("Tools.guard", (it) => {
  it.scoped("guards run from the outer realm to the inner, and end with their Scope", () =>
    Effect.gen(function* () {
      const root = yield* Tools.Tools
      const realm = fork(root)
      const asked: Array<string> = []
      const guard = (name: string) => () => void asked.push(name)
      yield* realm.guard(guard("inner"))
      const { close } = yield* closable(root.guard(guard("outer")))
      const execution = { name: "x" } as Parameters<Tools.Guard>[0]
      for (const each of realm.guards()) each(execution)
      for (const each of root.guards()) each(execution)
      assert.deepStrictEqual(asked, ["outer", "inner", "outer"])
      yield* close
      assert.strictEqual(realm.guards().length, 1)
      assert.strictEqual(fork(root).guards().length, 0)
    })
  )

  it.scoped("one guard that two set ends with each", () =>
    Effect.gen(function* () {
      const tools = yield* Tools.Tools
      const guard = () => "no"
      const first = yield* closable(tools.guard(guard))
      yield* tools.guard(guard)
      yield* first.close
      assert.deepStrictEqual(tools.guards(), [guard])
    })
  )

  it.scoped("a guard of a realm denies there and nowhere else", () =>
    Effect.gen(function* () {
      const tools = yield* Tools.Tools
      yield* tools.register(named("a"))
      const realm = Realm.fork(yield* Effect.context<Pipeline.PipelineServices>())
      yield* Context.get(realm, Tools.Tools).guard(({ name }) => `no ${name} here`)
      const run = Pipeline.execute(call("a"))
      assert.strictEqual(textOf(yield* Effect.provide(run, realm)), "Error: no a here")
      assert.strictEqual(textOf(yield* run), "a")
    })
  )
})

class Who extends Context.Tag("test/Who")<Who, string>() {}

layer(base)("Tools.layerTool", (it) => {
  const run = (name: string) => Effect.map(Pipeline.execute(call(name)), textOf)

  it.effect("registers a tool for as long as the Layer lives", () =>
    Effect.gen(function* () {
      const answer = yield* Effect.provide(run("echo"), Tools.layerTool(echo))
      assert.include(answer, "missing required text")
      assert.include(yield* run("echo"), 'there is no tool "echo"')
    })
  )

  it.effect("takes the services the body needs from where the Layer is built", () =>
    Effect.gen(function* () {
      const asks = Tools.layerTool(doing("who", () => Who)).pipe(Layer.provide(Layer.succeed(Who, "builder")))
      const answer = yield* Effect.provideService(Effect.provide(run("who"), asks), Who, "caller")
      assert.strictEqual(answer, "builder")
    })
  )

  it.scoped("the body sees the registry of the realm that calls it", () =>
    Effect.gen(function* () {
      const lists = Tools.layerTool(doing("lists", () => Effect.map(Tools.Tools, (tools) => names(tools).join())))
      yield* Effect.gen(function* () {
        const realm = Realm.fork(yield* Effect.context<Pipeline.PipelineServices>())
        yield* Context.get(realm, Tools.Tools).register(named("own"))
        assert.strictEqual(yield* Effect.provide(run("lists"), realm), "lists,own")
        assert.strictEqual(yield* run("lists"), "lists")
      }).pipe(Effect.provide(lists))
    })
  )

  it.effect("spans of the body hang below the call, never below the build of the Layer", () =>
    Effect.gen(function* () {
      const traced = Tools.layerTool(
        doing("traced", () =>
          Effect.map(
            Effect.option(Effect.currentSpan),
            Option.match({ onNone: () => "no span", onSome: ({ name }) => name })
          )
        )
      )
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* Effect.withSpan(run("traced"), "the call"), "the call")
        assert.strictEqual(yield* run("traced"), "no span")
      }).pipe(Effect.provide(Layer.withSpan(traced, "the build")))
    })
  )
})
