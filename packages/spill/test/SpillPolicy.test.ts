import * as Text from "@dsh/kernel/Text"
import { text } from "@dsh/protocol/Block"
import type { ContentBlock } from "@dsh/protocol/Block"
import { CallId } from "@dsh/protocol/Ids"
import * as Sessions from "@dsh/session/Sessions"
import * as Tool from "@dsh/tools/Tool"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import * as ToolPipeline from "@dsh/tools/ToolPipeline"
import * as Tools from "@dsh/tools/Tools"
import { CurrentConfinement } from "@dsh/world/Confinement"
import type { Confinement } from "@dsh/world/Confinement"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import * as SpillPolicy from "../src/SpillPolicy.ts"
import { SpillError, SpillStore } from "../src/SpillStore.ts"

const saying = (name: string) =>
  Tool.make({
    name,
    description: "Says it.",
    parameters: Schema.Struct({ text: Schema.String, image: Schema.optionalWith(Schema.Boolean, { exact: true }) }),
    output: Schema.String,
    execute: (args) => Effect.succeed(args.text),
    render: ({ image = false }, value): ReadonlyArray<ContentBlock> =>
      image
        ? [text(value), { type: "image", source: { type: "base64", mediaType: "image/png", data: "" } } as never]
        : [text(value)]
  })

interface Held {
  readonly content: string
  readonly confinement: Confinement | undefined
}

/** A store that keeps what it is given in a list. */
const keeping = (held: Array<Held>) =>
  Layer.succeed(SpillStore, {
    saveText: ({ content }) =>
      Effect.map(CurrentConfinement, (confinement) => {
        held.push({ content, confinement })
        return { locator: `/kept/${held.length}`, bytes: Buffer.byteLength(content), hint: "ask" }
      })
  })

const broken = Layer.succeed(SpillStore, {
  saveText: () => Effect.fail(new SpillError({ code: "SPILL_FAILED", message: "no room" }))
})

const inWorld = (
  maxInlineBytes: number,
  store: Layer.Layer<SpillStore> | undefined,
  extra: Layer.Layer<never, never, ToolHooks.ToolHooks> = Layer.empty
) =>
  Layer.mergeAll(
    Layer.provide(SpillPolicy.layer({ maxInlineBytes }), store ?? Layer.empty),
    Tools.layerTool(saying("say")),
    Tools.layerTool(saying("read")),
    extra
  ).pipe(Layer.provideMerge(Layer.mergeAll(Tools.layer, ToolHooks.layer, Sessions.layer)))

const call = (name: string, args: object, fields: object = {}) =>
  Effect.gen(function* () {
    const session = yield* (yield* Sessions.Sessions).create({ cwd: "/" })
    const { content } = yield* ToolPipeline.execute({ callId: CallId("c"), name, arguments: args, session, ...fields })
    return content.map((block) => (block.type === "text" ? block.text : block.type)).join("|")
  })

const long = "äöü€😀".repeat(100)

describe("SpillPolicy", () => {
  it.scoped("keeps as many bytes as it may, from both ends, and says how many are missing", () => {
    const held: Array<Held> = []
    return Effect.gen(function* () {
      const short = yield* call("say", { text: long })
      assert.isAtMost(Buffer.byteLength(short), 300)
      // What does not fit is less than a character at each end, and the digits that were kept free.
      assert.isAbove(Buffer.byteLength(short), 300 - 8)
      const [, head = "", omitted, tail = ""] =
        /^([^\n]*)\n\n\[(\d+) of 1300 bytes are left out here; all of it is in \/kept\/1: ask\]\n\n([^\n]*)$/.exec(
          short
        ) ?? []
      assert.isTrue(long.startsWith(head) && long.endsWith(tail))
      assert.strictEqual(Number(omitted), 1300 - Buffer.byteLength(head) - Buffer.byteLength(tail))
      assert.deepStrictEqual(
        held.map(({ content }) => content),
        [long]
      )
    }).pipe(Effect.provide(inWorld(300, keeping(held))))
  })

  it.scoped("leaves alone what fits, what was asked for, what calls made for calls, and what is not just text", () => {
    const held: Array<Held> = []
    return Effect.gen(function* () {
      assert.strictEqual(yield* call("say", { text: long.slice(0, 10) }), long.slice(0, 10))
      assert.strictEqual(yield* call("read", { text: long }), long)
      assert.strictEqual(yield* call("say", { text: long }, { parent: Symbol("outer") }), long)
      assert.strictEqual(yield* call("say", { text: long }, { session: undefined }), long)
      assert.strictEqual(yield* call("say", { text: long, image: true }), `${long}|image`)
      assert.deepStrictEqual(held, [])
    }).pipe(Effect.provide(inWorld(300, keeping(held))))
  })

  it.scoped("leaves alone the value of a hook, and shortens its content", () => {
    const held: Array<Held> = []
    const replacing = ToolHooks.PostExecute.hook("test", ({ execution }, next) =>
      Effect.map(next({ execution, outcome: undefined as never }), () =>
        (execution.arguments as { text: string }).text === "value"
          ? { kind: "accept" as const, value: long }
          : { kind: "accept" as const, content: [text(`${long}!`)] }
      )
    )
    return Effect.gen(function* () {
      assert.strictEqual(yield* call("say", { text: "value" }), long)
      assert.match(yield* call("say", { text: "content" }), /left out here[^]*!$/)
      assert.strictEqual(held.length, 1)
    }).pipe(Effect.provide(inWorld(300, keeping(held), replacing)))
  })

  it.scoped("keeps a result whole when it cannot be saved, or not be named in so little room", () =>
    Effect.gen(function* () {
      const held: Array<Held> = []
      for (const world of [inWorld(300, undefined), inWorld(300, broken), inWorld(20, keeping(held))]) {
        assert.strictEqual(yield* Effect.provide(call("say", { text: long }), world), long)
      }
    })
  )

  it.scoped("saves under the confinement of the session, whatever a single call was allowed", () => {
    const held: Array<Held> = []
    const confinement = { mode: "read-only", workspace: "/", network: "on", temp: "/t", hidden: [], shown: [] } as const
    const sandbox = (mode: Confinement["mode"], order: number) =>
      ToolHooks.Execute.hook(
        mode,
        (execution, next) => Effect.provideService(next(execution), CurrentConfinement, { ...confinement, mode }),
        { order }
      )
    const extra = Layer.merge(sandbox("read-only", -10_000), sandbox("danger-full-access", 0))
    return Effect.gen(function* () {
      yield* call("say", { text: long })
      assert.deepStrictEqual(held[0]?.confinement, confinement)
    }).pipe(Effect.provide(inWorld(300, keeping(held), extra)))
  })

  it("counts what it leaves out to the byte, wherever it cuts", () => {
    for (let max = 0; max < 40; max++) {
      const { head, omittedBytes, tail } = Text.retainBytes("aé€😀b😀€éa", Math.ceil(max / 2), Math.floor(max / 2))
      assert.strictEqual(Buffer.byteLength(head + tail) + omittedBytes, 21)
      assert.isAtMost(Buffer.byteLength(head + tail), Math.max(max, 0))
    }
  })
})
