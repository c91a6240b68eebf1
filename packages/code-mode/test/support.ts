// A world in memory with an agent whose model is a script, and tools that say what they did.
import { Agents } from "@dsh/agent/Agents"
import type { Agent } from "@dsh/agent/Agent"
import * as Ids from "@dsh/kernel/Ids"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import { textOf } from "@dsh/protocol/Block"
import type { EventOf, EventType } from "@dsh/protocol/SessionEvent"
import * as Invariants from "@dsh/session/Invariants"
import type { Session } from "@dsh/session/Session"
import * as RequestInvariant from "@dsh/loop/RequestInvariant"
import * as Tool from "@dsh/tools/Tool"
import * as Tools from "@dsh/tools/Tools"
import { Context, Deferred, Effect, Layer, Schema } from "effect"
import * as CodeMode from "../src/CodeMode.ts"
import { CodeRuntime } from "../src/CodeRuntime.ts"
import * as CodeRuntimeQuickJs from "../src/CodeRuntimeQuickJs.ts"
import type { ToolsMode } from "../src/ToolsMode.ts"

/** Gates that tool bodies wait at, and a record of what they did. */
export class Stage extends Context.Tag("test/Stage")<
  Stage,
  { readonly log: Array<string>; readonly gate: (name: string) => Deferred.Deferred<void> }
>() {}

const stage = Layer.sync(Stage, () => {
  const gates = new Map<string, Deferred.Deferred<void>>()
  return {
    log: [],
    gate: (name: string) => {
      let gate = gates.get(name)
      if (gate === undefined) gates.set(name, (gate = Effect.runSync(Deferred.make<void>())))
      return gate
    }
  }
})

const waiting = (name: string, parallelSafe: boolean) =>
  Tool.make({
    name,
    description: "Waits at its gate.",
    parameters: Schema.Struct({ name: Schema.String }),
    output: Schema.Struct({ did: Schema.String }),
    parallelSafe,
    execute: (args) =>
      Effect.gen(function* () {
        const { gate, log } = yield* Stage
        log.push(`start ${args.name}`)
        yield* Effect.onInterrupt(Deferred.await(gate(args.name)), () =>
          Effect.sync(() => log.push(`abort ${args.name}`))
        )
        log.push(`end ${args.name}`)
        return { did: args.name }
      }),
    render: (_, { did }) => `did ${did}`
  })

const echo = Tool.make({
  name: "echo",
  description: "Says it back.",
  parameters: Schema.Struct({ text: Schema.String }),
  output: Schema.Struct({ text: Schema.String, length: Schema.Int }),
  execute: ({ text }) =>
    Effect.flatMap(Stage, ({ log }) =>
      Effect.sync(() => {
        log.push(`echo ${text}`)
        return { text, length: text.length }
      })
    ),
  render: (_, { text }) => text
})

const tools = Layer.mergeAll(
  Tools.layerTool(waiting("shared", true)),
  Tools.layerTool(waiting("alone", false)),
  Tools.layerTool(echo)
)

/** The runtime of the product, whose runs open the gate "ended" when they are over. */
const runtime = Layer.effect(
  CodeRuntime,
  Effect.zipWith(CodeRuntime, Stage, (inner, { gate }) =>
    CodeRuntime.of({
      ...inner,
      run: (run) => Effect.zipLeft(inner.run(run), Deferred.succeed(gate("ended"), undefined))
    })
  )
).pipe(Layer.provide(CodeRuntimeQuickJs.layer({ computeMs: 20_000 })))

type Base = Definitions.Definitions | Stage
export type Extra = Layer.Layer<never, unknown, Base | ToolsMode | CodeRuntime>

/** The loop over a script, with programs, held to the rules of the log. */
export const world = (
  script: ReadonlyArray<LlmScripted.Reply.Reply>,
  options: CodeMode.Options,
  extra: Extra = Layer.empty
) =>
  Layer.mergeAll(tools, Invariants.layer, RequestInvariant.layer, extra).pipe(
    Layer.provideMerge(CodeMode.layer(options)),
    Layer.provideMerge(runtime),
    Layer.provideMerge(Layer.merge(AgentLoop.layer, LlmScripted.layer(script))),
    Layer.provideMerge(Layer.merge(Definitions.layer, stage)),
    Layer.provide(Layer.succeed(Ids.IdSource, Ids.sequential("id"))),
    Layer.orDie
  )

type Setup = Layer.Layer<never, CodeMode.Failure, Layer.Layer.Success<ReturnType<typeof world>>>

export const make = (setup: Setup = Layer.empty) =>
  Effect.flatMap(Agents, (agents) => agents.create({ provider: LlmScripted.provider, model: LlmScripted.model, setup }))

export const ask = (agent: Agent, text: string) => Effect.flatMap(agent.followup(text), agent.awaitTurn)

export const program = (code: string, more: object = {}) =>
  LlmScripted.Reply.calls([{ name: "run_code", arguments: { code, description: "does what it does", ...more } }])

export const done = LlmScripted.Reply.text("done")

export const ofType = <Type extends EventType>(session: Session, type: Type): Array<EventOf<Type>> =>
  [...session.range(0)].flatMap((event) => (event.type === type ? [event as EventOf<Type>] : []))

/** Text and code of each result that the model was given. */
export const results = (session: Session) =>
  ofType(session, "tool/result").map(({ data }) => ({
    text: textOf(data.message.content[0].content),
    ...(data.error !== undefined && { code: data.error.code })
  }))

/** The calls that programs made, as the log has them. */
export const subCalls = (session: Session) =>
  [...session.range(0)].flatMap((event) => {
    if (event.type === "tool/code-dispatch-start") return [`start ${event.data.subCallId} ${event.data.name}`]
    if (event.type === "tool/code-dispatch") {
      return [`${event.data.isError ? "failed" : "done"} ${event.data.subCallId} ${textOf(event.data.content)}`]
    }
    return []
  })

/** How many threads this one talks to. */
export const threads = () => process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length

/** Waits for the world, not for a clock. */
export const until = (condition: () => boolean) => Effect.repeat(Effect.sleep("2 millis"), { until: condition })
