// A whole agent world in memory: the real loop over a scripted model and a few small tools.
import type { Agent } from "@dsh/agent/Agent"
import { Agents } from "@dsh/agent/Agents"
import type { CreateOptions } from "@dsh/agent/Agents"
import * as Ids from "@dsh/kernel/Ids"
import * as ChatCompletions from "@dsh/llm/ChatCompletions"
import * as Llm from "@dsh/llm/Llm"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import * as RequestInvariant from "@dsh/loop/RequestInvariant"
import { textOf } from "@dsh/protocol/Block"
import type { EventOf, EventType, SessionEvent } from "@dsh/protocol/SessionEvent"
import type { Session } from "@dsh/session/Session"
import * as Invariants from "@dsh/session/Invariants"
import * as Tool from "@dsh/tools/Tool"
import * as Tools from "@dsh/tools/Tools"
import * as StrictProvider from "@dsh/testing/StrictProvider"
import { Context, Deferred, Effect, Layer, Schema } from "effect"

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

const Named = Schema.Struct({ name: Schema.String })

const waiting = (name: string, parallelSafe: boolean) =>
  Tool.make({
    name,
    description: "Waits at its gate.",
    parameters: Named,
    output: Schema.String,
    parallelSafe,
    execute: (args) =>
      Effect.gen(function* () {
        const { gate, log } = yield* Stage
        log.push(`start ${args.name}`)
        yield* Effect.onInterrupt(Deferred.await(gate(args.name)), () =>
          Effect.sync(() => log.push(`abort ${args.name}`))
        )
        log.push(`end ${args.name}`)
        return args.name
      }),
    render: (_, value) => `did ${value}`
  })

const echo = Tool.make({
  name: "echo",
  description: "Says it back.",
  parameters: Schema.Struct({ text: Schema.String }),
  output: Schema.String,
  execute: ({ text }) => Effect.succeed(text),
  render: (_, value) => value
})

const conclude = Tool.make({
  name: "conclude",
  description: "Ends the turn.",
  parameters: Schema.Struct({}),
  output: Schema.Null,
  execute: (_, context) => Effect.as(context.concludeTurn, null),
  render: () => "concluded"
})

const broken = Tool.make({
  name: "broken",
  description: "Dies.",
  parameters: Schema.Struct({}),
  output: Schema.Null,
  execute: () => Effect.die(new Error("kaboom")),
  render: () => ""
})

const tools = Layer.mergeAll(
  Tools.layerTool(waiting("shared", true)),
  Tools.layerTool(waiting("alone", false)),
  Tools.layerTool(echo),
  Tools.layerTool(conclude),
  Tools.layerTool(broken)
)

/** Every request, written as a provider would get it, has to be one that a strict provider takes. */
const strict = Llm.LlmStream.hook("strict provider", (request, next) => {
  const { header, messages } = request
  const wire = ChatCompletions.profile({ thinking: "enabled", reasoningEffort: "high" })
  const writer = ChatCompletions.format.open({ ...header, wire })
  const body =
    writer.prefix +
    [...writer.initial, ...messages.flatMap((message) => writer.message(message))].join(",") +
    writer.suffix
  const violations = StrictProvider.validateText(body)
  return violations.length === 0 ? next(request) : Effect.die(new Error(JSON.stringify(violations)))
})

/** The rules that are held against a session in tests, and are not in the product. */
const rules = Layer.mergeAll(strict, Invariants.layer, RequestInvariant.layer)

/** The loop over a script, behind the strict validator and the invariants, with extra layers that see everything. */
export const world = <E = never>(
  script: ReadonlyArray<LlmScripted.Reply.Reply>,
  extra: Layer.Layer<never, E, Definitions.Definitions | Stage> = Layer.empty,
  held: Layer.Layer<never, never, Definitions.Definitions> = rules
) =>
  Layer.mergeAll(tools, held, extra).pipe(
    Layer.provideMerge(Layer.merge(AgentLoop.layer, LlmScripted.layer(script))),
    Layer.provideMerge(Layer.merge(Definitions.layer, stage)),
    Layer.provide(Layer.succeed(Ids.IdSource, Ids.sequential("id")))
  )

export const make = <E = never, R = never>(options: CreateOptions<E, R> = {}) =>
  Effect.flatMap(Agents, (agents) =>
    agents.create<E, R>({ provider: LlmScripted.provider, model: LlmScripted.model, ...options })
  )

/** Sends a prompt and waits for the end of its turn. */
export const ask = (agent: Agent, text: string) => Effect.flatMap(agent.followup(text), agent.awaitTurn)

export const events = (session: Session): Array<SessionEvent> => [...session.range(0)]

export const ofType = <Type extends EventType>(session: Session, type: Type): Array<EventOf<Type>> =>
  events(session).flatMap((event) => (event.type === type ? [event as EventOf<Type>] : []))

/** The log at a glance: one short line per event; `whole` also tells what a request leaves behind besides its answer. */
export const outline = (session: Session, whole = false): Array<string> =>
  events(session)
    .filter(({ type }) => whole || !["assistant/chunk", "request/sent", "request/context"].includes(type))
    .map((event) => {
      switch (event.type) {
        case "assistant/chunk":
          return `chunk ${event.data.chunk.type}`
        case "request/context":
          return "context"
        case "request/sent":
          return "sent"
        case "turn/start":
          return `turn ${event.data.turn}`
        case "turn/end":
          return `end turn ${event.data.turn} ${event.data.reason.kind}`
        case "step/start":
          return `step ${event.data.step}`
        case "step/end":
          return `end step ${event.data.step}`
        case "user/message":
          return `user ${textOf(event.data.content)}`
        case "assistant/message": {
          const parts = event.data.message.content.map((block) =>
            block.type === "text" || block.type === "reasoning"
              ? block.text
              : block.type === "tool-call"
                ? `<${block.name}>`
                : ""
          )
          return `assistant${event.data.interrupted === true ? " (interrupted)" : ""} ${parts.join(" ")}`.trimEnd()
        }
        case "tool/call":
          return `call ${event.data.callId}`
        case "tool/result":
          return `result ${event.data.message.source.callId} ${event.data.error?.code ?? textOf(event.data.message.content[0].content)}`
        case "request/header":
          return `header ${event.data.reason}`
        case "agent/inbox/spliced":
          return event.data.outcome === undefined ? `queue ${event.data.target}` : event.data.outcome
        default:
          return event.type
      }
    })

export const turnErrors = (session: Session): Array<string> =>
  ofType(session, "turn/end").flatMap(({ data }) => (data.reason.kind === "error" ? [data.reason.error.code] : []))

/** The texts of messages: those that wait, and those that the model has been told. */
export const pending = ({ inbox }: Session): Array<string> =>
  [...inbox["next-step"], ...inbox["next-turn"]].map(({ content }) => textOf(content))

export const told = (session: Session): Array<string> =>
  ofType(session, "user/message").map(({ data }) => textOf(data.content))

/** The log refuses the first `times` events that are like this. */
export const refuse = (session: Session, which: (event: SessionEvent) => boolean, times = 1) => {
  let left = times
  return session.validate((event) => (which(event) && left-- > 0 ? "refused by the test" : undefined))
}

/** `first` at the first run, nothing special afterwards. */
export const once = <A, E>(first: Effect.Effect<A, E>) => {
  let runs = 0
  return <B, F>(others: Effect.Effect<B, F>): Effect.Effect<A | B, E | F> =>
    Effect.suspend((): Effect.Effect<A | B, E | F> => (runs++ === 0 ? first : others))
}

/** Runs until `predicate` holds for an event of the session: a wait for the world, not for a clock. */
export const until = (session: Session, predicate: (event: SessionEvent) => boolean) =>
  Effect.scoped(
    Effect.gen(function* () {
      const seen = yield* Deferred.make<void>()
      const look = () => {
        if (events(session).some(predicate)) Deferred.unsafeDone(seen, Effect.void)
      }
      yield* session.observe(look)
      look()
      yield* Deferred.await(seen)
    })
  )
