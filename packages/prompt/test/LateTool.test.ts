import { CallId } from "@dsh/protocol/Ids"
import * as Tool from "@dsh/tools/Tool"
import { ToolError } from "@dsh/tools/ToolError"
import type { ToolContext } from "@dsh/tools/Tool"
import { Tools } from "@dsh/tools/Tools"
import * as ToolRegistry from "@dsh/tools/Tools"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Ref, Schema } from "effect"
import * as GuidedTool from "../src/GuidedTool.ts"
import * as LateTool from "../src/LateTool.ts"
import { SystemPrompt } from "../src/SystemPrompt.ts"
import * as SystemPrompts from "../src/SystemPrompt.ts"

class Greeting extends Context.Tag("test/Greeting")<Greeting, { readonly words: string }>() {}

const section = { name: "greet", order: 100, text: "Greet people." }

const greet = Tool.make({
  name: "greet",
  description: "Greets somebody.",
  parameters: Schema.Struct({ name: Schema.String }),
  output: Schema.String,
  parallelSafe: true,
  execute: ({ name }) => Effect.map(Greeting, ({ words }) => `${words}, ${name}`),
  render: (_, text) => text,
  present: { call: ({ name }) => ({ view: "generic", title: `Greet ${name}`, kind: "other" }) }
})

const told: LateTool.Told = {
  tools: [
    {
      name: "greet",
      aliases: [],
      description: greet.description,
      parameters: greet.parameters,
      output: JSON.stringify(greet.output?.() ?? {})
    }
  ],
  sections: [section]
}

const registries = Layer.merge(ToolRegistry.layer, SystemPrompts.layer)
const greeting = Layer.succeed(Greeting, { words: "Good evening" })
const whole = GuidedTool.layer(greet, section)

const context: ToolContext = {
  callId: CallId("call"),
  rootCallId: CallId("call"),
  token: Symbol("call"),
  session: undefined,
  cwd: "/",
  deferContext: () => Effect.void,
  concludeTurn: Effect.void
}

const args = { name: "Ada" }

/** The tool as it is told of, in the registries that it is told in. */
const registered = Effect.map(Tools, (tools) => {
  const tool = tools.get("greet")
  if (tool === undefined) throw new Error("nobody tells of it")
  return tool
})

const within = (load: () => Promise<LateTool.ToolLayer<Greeting>>) =>
  Layer.provideMerge(LateTool.layer(told, load), Layer.merge(registries, greeting))

describe("LateTool", () => {
  it.effect("a model is told of it before it is loaded, and the first call loads it", () => {
    let loads = 0
    const load = () => {
      loads++
      return Promise.resolve(whole)
    }
    return Effect.gen(function* () {
      const tool = yield* registered
      const prompt = yield* SystemPrompt
      const tools = yield* Tools
      assert.deepStrictEqual(prompt.sections(), [section])
      assert.deepStrictEqual(tools.schemas(), [
        { name: "greet", description: greet.description, parameters: greet.parameters }
      ])
      assert.deepStrictEqual(tool.output?.(), greet.output?.())
      assert.strictEqual(loads, 0)

      const first = yield* Effect.all([tool.run(args, context), tool.run(args, context)], { concurrency: 2 })
      assert.deepStrictEqual(
        first.map(({ value }) => value),
        ["Good evening, Ada", "Good evening, Ada"]
      )
      assert.strictEqual(loads, 1)
      assert.deepStrictEqual(tools.list(), [tool])
    }).pipe(Effect.provide(within(load)))
  })

  it.effect("it runs alone and has no views until it is loaded", () =>
    Effect.gen(function* () {
      const tool = yield* registered
      assert.isFalse(tool.isParallelSafe(args))
      assert.isUndefined(tool.presentCall(args))
      yield* tool.load ?? Effect.void
      assert.isTrue(tool.isParallelSafe(args))
      assert.isFalse(tool.isParallelSafe({}))
      assert.deepStrictEqual(tool.presentCall(args), { view: "generic", title: "Greet Ada", kind: "other" })
    }).pipe(Effect.provide(within(() => Promise.resolve(whole))))
  )

  it.effect("a call says why it could not be loaded, and to load it says nothing", () =>
    Effect.gen(function* () {
      const tool = yield* registered
      yield* tool.load ?? Effect.void
      const error = yield* Effect.flip(tool.run(args, context))
      assert.instanceOf(error, ToolError)
      assert.strictEqual(error.code, "TOOL_NOT_LOADED")
      assert.include(error.message, "the chunk is gone")
    }).pipe(Effect.provide(within(() => Promise.reject(new Error("the chunk is gone")))))
  )

  it.effect("a module that has another tool is no module of this one", () =>
    Effect.gen(function* () {
      const tool = yield* registered
      const error = yield* Effect.flip(tool.run(args, context))
      assert.strictEqual(error.code, "TOOL_NOT_LOADED")
      assert.include(error.message, "its module has no greet")
    }).pipe(Effect.provide(within(() => Promise.resolve(GuidedTool.layer({ ...greet, name: "wave" }, section)))))
  )

  it.effect("a call that is cancelled while it is loaded takes nothing away from the next", () =>
    Effect.gen(function* () {
      const isLoading = yield* Deferred.make<void>()
      let answer: (layer: LateTool.ToolLayer<Greeting>) => void = () => {}
      const load = () => {
        Effect.runSync(Deferred.succeed(isLoading, undefined))
        return new Promise<LateTool.ToolLayer<Greeting>>((resolve) => (answer = resolve))
      }
      yield* Effect.gen(function* () {
        const tool = yield* registered
        const cancelled = yield* Effect.fork(tool.run(args, context))
        yield* Deferred.await(isLoading)
        const interruption = yield* Effect.fork(Fiber.interrupt(cancelled))
        yield* Effect.yieldNow()
        answer(whole)
        assert.isTrue(Exit.isInterrupted(yield* Fiber.join(interruption)))
        assert.strictEqual((yield* tool.run(args, context)).value, "Good evening, Ada")
      }).pipe(Effect.provide(within(load)))
    })
  )

  it.effect("what it opened is closed with the Layer that told of it", () =>
    Effect.gen(function* () {
      const events = yield* Ref.make<ReadonlyArray<string>>([])
      const note = (event: string) => Ref.update(events, (all) => [...all, event])
      const opening = Layer.merge(
        whole,
        Layer.scopedDiscard(Effect.acquireRelease(note("opened"), () => note("closed")))
      )
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* Ref.get(events), [])
        const tool = yield* registered
        yield* tool.run(args, context)
        assert.deepStrictEqual(yield* Ref.get(events), ["opened"])
      }).pipe(Effect.provide(within(() => Promise.resolve(opening))))
      assert.deepStrictEqual(yield* Ref.get(events), ["opened", "closed"])
    })
  )
})
