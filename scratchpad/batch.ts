/**
 * A scripted batch: every task an agent of its own, four at a time; one failure does not stop the rest, results keep their order.
 */
import { Agents } from "@dsh/agent/Agents"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import { textOf } from "@dsh/protocol/Block"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as OwnModel from "./own-model.ts"

const runOne = (task: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const agents = yield* Agents
      const agent = yield* agents.create({ provider: "parrot", model: "polly" })
      const { reason } = yield* Effect.flatMap(agent.followup(task), agent.awaitTurn)
      return { task, ended: reason.kind, answer: textOf(agent.session.conversation.messages.at(-1)?.content ?? []) }
    })
  )

const world = AgentLoop.layer.pipe(Layer.provideMerge(OwnModel.layer), Layer.provideMerge(Definitions.layer))

export const main = (tasks: ReadonlyArray<string>) =>
  Effect.forEach(tasks, (task) => Effect.either(runOne(task)), { concurrency: 4 }).pipe(Effect.provide(world))
