/**
 * Rules as they are in force, and an agent that is held to them: the real loop, shell and files under a scripted model.
 */
import type { Agent } from "@dsh/agent/Agent"
import { Agents } from "@dsh/agent/Agents"
import type { CreateOptions } from "@dsh/agent/Agents"
import * as ObservedFiles from "@dsh/files/ObservedFiles"
import * as WriteTool from "@dsh/files/WriteTool"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import { textOf } from "@dsh/protocol/Block"
import type { EventOf, EventType } from "@dsh/protocol/SessionEvent"
import type { Session } from "@dsh/session/Session"
import * as BashLocal from "@dsh/shell/BashLocal"
import * as BashTool from "@dsh/shell/BashTool"
import * as Tool from "@dsh/tools/Tool"
import * as Tools from "@dsh/tools/Tools"
import * as FsLocal from "@dsh/world/FsLocal"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Either, Layer, Schema } from "effect"
import * as Approval from "../src/Approval.ts"
import * as PermissionPolicy from "../src/PermissionPolicy.ts"
import * as PermissionRules from "../src/PermissionRules.ts"
import * as Rules from "../src/Rules.ts"
import * as ShellSyntaxTreeSitter from "../src/ShellSyntaxTreeSitter.ts"
import type { Given } from "../src/Verdict.ts"

export const rule = (text: string): Rules.Rule => Either.getOrThrow(Rules.parse(text))

export const given = (
  rules: Partial<Record<Rules.Effects, ReadonlyArray<string>>>,
  origin = "the settings"
): ReadonlyArray<Given> =>
  (["allow", "ask", "deny"] as const).flatMap((effect) =>
    (rules[effect] ?? []).map((text) => ({ effect, origin, rule: rule(text) }))
  )

const fetch = Tool.make({
  name: "web_fetch",
  description: "Fetches nothing.",
  parameters: Schema.Struct({ url: Schema.String }),
  output: Schema.String,
  execute: ({ url }) => Effect.succeed(url),
  render: (_, url) => `fetched ${url}`
})

/** An agent's world under rules; `answer` is whoever answers approvals. */
export const world = <R, E, R2 = never>(
  script: ReadonlyArray<LlmScripted.Reply.Reply>,
  rules: Layer.Layer<PermissionRules.PermissionRules, E, R>,
  answer: Layer.Layer<never, never, R2> | Layer.Layer<never> = Layer.empty
) =>
  AgentLoop.layer.pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        LlmScripted.layer(script),
        BashTool.layer,
        WriteTool.layer,
        Tools.layerTool(fetch),
        answer,
        PermissionPolicy.layer
      )
    ),
    Layer.provideMerge(Layer.mergeAll(rules, Approval.layer(), ShellSyntaxTreeSitter.layer)),
    Layer.provideMerge(
      Layer.mergeAll(BashLocal.layer({}), FsLocal.layer, ObservedFiles.layer).pipe(
        Layer.provide(SubprocessLocal.layer())
      )
    ),
    Layer.provideMerge(Definitions.layer),
    Layer.provideMerge(NodeFileSystem.layer)
  )

/** A folder that is gone afterwards. */
export const folder = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  Effect.flatMap(fs.makeTempDirectoryScoped({ prefix: "dsh-permission-" }), (path) => fs.realPath(path))
)

export const make = <E = never, R = never>(options: CreateOptions<E, R> = {}) =>
  Effect.flatMap(Agents, (agents) =>
    agents.create<E, R>({ provider: LlmScripted.provider, model: LlmScripted.model, ...options })
  )

export const ask = (agent: Agent, text = "go") => Effect.flatMap(agent.followup(text), agent.awaitTurn)

export const ofType = <Type extends EventType>(session: Session, type: Type): ReadonlyArray<EventOf<Type>> =>
  Array.from(session.range(0)).flatMap((event) => (event.type === type ? [event as EventOf<Type>] : []))

/** What the model was told of its calls. */
export const results = (session: Session): ReadonlyArray<string> =>
  ofType(session, "tool/result").map(({ data }) => textOf(data.message.content[0].content))

export const bash = (...commands: ReadonlyArray<string>) =>
  LlmScripted.Reply.calls(
    commands.map((command, i) => ({
      name: "bash",
      id: `call-${i}`,
      arguments: { command, description: "Runs a command for the test." }
    }))
  )

export const done = LlmScripted.Reply.text("done")
