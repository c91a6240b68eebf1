/**
 * A coding agent on a dry run: the bash tool over a shell of our own, real files, sessions kept in memory.
 */
import { Agents } from "@dsh/agent/Agents"
import * as ObservedFiles from "@dsh/files/ObservedFiles"
import * as ReadTool from "@dsh/files/ReadTool"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import * as Checkpoints from "@dsh/persistence/Checkpoints"
import * as PersistenceMemory from "@dsh/persistence/PersistenceMemory"
import * as WriteBehind from "@dsh/persistence/WriteBehind"
import { textOf } from "@dsh/protocol/Block"
import * as BashTool from "@dsh/shell/BashTool"
import * as FsLocal from "@dsh/world/FsLocal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as OwnShell from "./own-shell.ts"

const model = LlmScripted.layer([
  LlmScripted.Reply.calls([
    { name: "read", arguments: { file_path: "package.json" } },
    { name: "bash", arguments: { command: "rm -rf build", description: "Remove the build" } }
  ]),
  LlmScripted.Reply.from(({ messages }) => {
    const results = messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool-result" ? [textOf(block.content)] : []))
    )
    return LlmScripted.Reply.text(results.at(-1) ?? "")
  })
])

const tools = Layer.merge(BashTool.layer, ReadTool.layer).pipe(
  Layer.provide(Layer.mergeAll(OwnShell.layer, FsLocal.layer, ObservedFiles.layer))
)

const storage = Layer.merge(WriteBehind.layer, Checkpoints.layer).pipe(Layer.provideMerge(PersistenceMemory.layer))

const world = AgentLoop.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(model, tools, storage)),
  Layer.provideMerge(Definitions.layer)
)

/** The answer of the agent, and how many events were stored. */
export const main = (cwd: string) =>
  Effect.gen(function* () {
    const agent = yield* (yield* Agents).create({ provider: LlmScripted.provider, model: LlmScripted.model, cwd })
    yield* Effect.flatMap(agent.followup("Clean up."), agent.awaitTurn)
    const { sessions } = yield* PersistenceMemory.StoredSessions
    return {
      answer: textOf(agent.session.conversation.messages.at(-1)?.content ?? []),
      stored: sessions.get(agent.id)?.entries.length ?? 0
    }
  }).pipe(Effect.scoped, Effect.provide(world))
