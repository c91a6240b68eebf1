/**
 * Small tools, calls of them, and the whole pipeline with a journal of who was asked.
 */
import { CallId, MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Tool from "../src/Tool.ts"
import { ToolError } from "../src/ToolError.ts"
import * as ToolHooks from "../src/ToolHooks.ts"
import type { ToolExecution, ToolOutcome } from "../src/ToolHooks.ts"
import type { Call } from "../src/ToolPipeline.ts"
import * as Tools from "../src/Tools.ts"

export const base: Layer.Layer<Tools.Tools | ToolHooks.ToolHooks> = Layer.merge(Tools.layer, ToolHooks.layer)

/** Says its text back; its value is the number of characters. */
export const echo = Tool.make({
  name: "echo",
  description: "Says it back.",
  parameters: Schema.Struct({ text: Schema.String }),
  output: Schema.Struct({ length: Schema.Int }),
  execute: ({ text }) => Effect.succeed({ length: text.length }),
  render: ({ text }, { length }) => `${text} (${length})`,
  meta: (_, { length }) => ({ length })
})

/** A tool without arguments that does `body` and answers with what that succeeds with. */
export const doing = <R = never>(
  name: string,
  body: (context: Tool.ToolContext) => Effect.Effect<string, ToolError, R>
): Tool.Tool<R> =>
  Tool.make({
    name,
    description: `Does ${name}.`,
    parameters: Schema.Struct({}),
    output: Schema.String,
    execute: (_, context) => body(context),
    render: (_, value) => value
  })

export const context: Tool.ToolContext = {
  callId: CallId("c"),
  rootCallId: CallId("c"),
  token: Symbol("c"),
  session: undefined,
  cwd: "/w",
  deferContext: () => Effect.void,
  concludeTurn: Effect.void
}

export const call = (name: string, args: unknown = {}): Call => ({
  callId: CallId("c"),
  name,
  arguments: args,
  session: undefined
})

/** A call of `echo` that works. */
export const echoed = call("echo", { text: "hey" })

export const broken = new ToolError({ code: "BROKEN", message: "broken" })

export const register = (tool: Tool.Tool) => Effect.flatMap(Tools.Tools, (tools) => tools.register(tool))

export const said = (id: string) => Message.user(MessageId(id), id)

export const textOf = (outcome: ToolOutcome): string =>
  outcome.content.map((block) => (block.type === "text" ? block.text : block.type)).join("|")

export const infoOf = (outcome: ToolOutcome): string | undefined =>
  outcome.isError ? outcome.error.info?.code : undefined

/** Hooks in every stage and a guard that write down that they were asked, and let the call pass. */
export const journal = Effect.gen(function* () {
  const asked: Array<string> = []
  const note = (entry: string) => Effect.sync(() => void asked.push(entry))
  const outermost = { order: -100 }
  yield* (yield* ToolHooks.PreExecute).use(
    "journal",
    (input, next) => Effect.zipRight(note("pre"), next(input)),
    outermost
  )
  yield* (yield* Tools.Tools).guard(() => void asked.push("guard"))
  yield* (yield* ToolHooks.Execute).use(
    "journal",
    (input, next) => Effect.zipRight(note("execute"), next(input)),
    outermost
  )
  yield* (yield* ToolHooks.PostExecute).use(
    "journal",
    (input, next) => Effect.zipRight(note("post"), next(input)),
    outermost
  )
  yield* (yield* ToolHooks.ToolResult).use("journal", ({ outcome }) =>
    note(`result ${outcome.isError ? "error" : "ok"}`)
  )
  return asked
})

export type Seen = { readonly execution: ToolExecution; readonly outcome: ToolOutcome }
