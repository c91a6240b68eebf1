/**
 * An agent of the real loop that works in a real folder with the file tools, and answers from a script.
 */
import { Agents } from "@dsh/agent/Agents"
import type { Agent } from "@dsh/agent/Agent"
import * as EditTool from "@dsh/files/EditTool"
import * as ObservedFiles from "@dsh/files/ObservedFiles"
import * as ReadTool from "@dsh/files/ReadTool"
import * as WriteTool from "@dsh/files/WriteTool"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import { textOf } from "@dsh/protocol/Block"
import type { EventOf } from "@dsh/protocol/SessionEvent"
import type { Session } from "@dsh/session/Session"
import * as FsLocal from "@dsh/world/FsLocal"
import type { Fs } from "@dsh/world/Fs"
import { Effect, Layer } from "effect"
import * as NodeFs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"

export const { Reply } = LlmScripted

/** A new folder, canonical path, removed with the Scope, and what one does with files in it. */
export const folder = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => NodeFs.realpathSync(NodeFs.mkdtempSync(Path.join(Os.tmpdir(), "dsh-test-")))),
    (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
  ),
  (dir) => ({
    dir,
    at: (name: string) => Path.join(dir, name),
    put: (name: string, content: string | Uint8Array) => {
      NodeFs.mkdirSync(Path.dirname(Path.join(dir, name)), { recursive: true })
      NodeFs.writeFileSync(Path.join(dir, name), content)
    },
    remove: (name: string) => NodeFs.rmSync(Path.join(dir, name), { recursive: true })
  })
)

/** `feature` under test, over the loop, the file tools and a script. */
export const world = <E>(
  script: ReadonlyArray<LlmScripted.Reply.Reply>,
  feature: Layer.Layer<never, E, Definitions.Definitions | Fs>
) =>
  Layer.mergeAll(feature, ReadTool.layer, WriteTool.layer, EditTool.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(AgentLoop.layer, LlmScripted.layer(script), ObservedFiles.layer)),
    Layer.provideMerge(Layer.merge(Definitions.layer, FsLocal.layer))
  )

export const make = <E = never, R = never>(cwd: string, setup: Layer.Layer<never, E, R> | undefined = undefined) =>
  Effect.flatMap(Agents, (agents) =>
    agents.create({
      cwd,
      ...(setup !== undefined && { setup }),
      provider: LlmScripted.provider,
      model: LlmScripted.model
    })
  )

export const ask = (agent: Agent, text: string) =>
  Effect.zipRight(Effect.flatMap(agent.followup(text), agent.awaitTurn), agent.whenIdle)

/** Every message that entered the conversation, with where it comes from. */
export const heard = (session: Session): Array<{ readonly from: string; readonly text: string }> =>
  [...session.range(0)]
    .filter((event): event is EventOf<"user/message"> => event.type === "user/message")
    .map(({ data }) => ({
      from: data.source.kind === "plugin" ? data.source.plugin : data.source.kind,
      text: textOf(data.content)
    }))

export const call = (name: string, args: object) => Reply.calls([{ name, arguments: JSON.parse(JSON.stringify(args)) }])
