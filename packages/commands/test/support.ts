/**
 * An agent of the real loop with commands, under a scripted model.
 */
import { Agents } from "@dsh/agent/Agents"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import type { EventOf, EventType } from "@dsh/protocol/SessionEvent"
import type { Session } from "@dsh/session/Session"
import { Effect, Layer } from "effect"
import * as Commands from "../src/Commands.ts"
import * as HelpCommand from "../src/HelpCommand.ts"
import * as ModelCommand from "../src/ModelCommand.ts"

export const world = (script: ReadonlyArray<LlmScripted.Reply.Reply> = []) =>
  Layer.merge(HelpCommand.layer, ModelCommand.layer).pipe(
    Layer.provideMerge(Layer.merge(AgentLoop.layer, LlmScripted.layer(script))),
    // Below the loop: an agent has what was there before it.
    Layer.provideMerge(Commands.layer),
    Layer.provideMerge(Definitions.layer)
  )

export const make = Effect.flatMap(Agents, (agents) =>
  agents.create({ provider: LlmScripted.provider, model: LlmScripted.model })
)

export const ofType = <Type extends EventType>(session: Session, type: Type): ReadonlyArray<EventOf<Type>["data"]> =>
  Array.from(session.range(0)).flatMap((event) => (event.type === type ? [(event as EventOf<Type>).data] : []))
