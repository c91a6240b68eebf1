/**
 * The agent of the command line: the one place where backends meet. Every line is a choice that can be made differently elsewhere.
 */
import * as EditTool from "@dsh/files/EditTool"
import * as ObservedFiles from "@dsh/files/ObservedFiles"
import * as ReadTool from "@dsh/files/ReadTool"
import * as WriteTool from "@dsh/files/WriteTool"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import * as Checkpoints from "@dsh/persistence/Checkpoints"
import * as PersistenceJsonl from "@dsh/persistence/PersistenceJsonl"
import * as WriteBehind from "@dsh/persistence/WriteBehind"
import * as BashLocal from "@dsh/shell/BashLocal"
import * as BashTool from "@dsh/shell/BashTool"
import * as FsLocal from "@dsh/world/FsLocal"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Layer from "effect/Layer"
import type { Provider } from "./Environment.ts"
import * as Persona from "./Persona.ts"

export interface Options {
  readonly provider: Provider
  /** Folder of the session logs. */
  readonly sessions: string
}

const tools = Layer.mergeAll(BashTool.layer, ReadTool.layer, WriteTool.layer, EditTool.layer).pipe(
  Layer.provide(Layer.mergeAll(BashLocal.layer({ timeoutMs: 60_000 }), FsLocal.layer, ObservedFiles.layer)),
  Layer.provide(SubprocessLocal.layer())
)

const model = ({ apiKey, baseUrl }: Provider) =>
  LlmDeepSeek.layer({
    connection: LlmDeepSeek.connection({ apiKey, ...(baseUrl !== undefined && { baseUrl }) })
  }).pipe(Layer.provide(HttpClientNode.layer))

/** Session logs under `sessions`, written behind and checked before anything irreversible. */
const storage = (sessions: string) =>
  Layer.merge(WriteBehind.layer, Checkpoints.layer).pipe(
    Layer.provideMerge(PersistenceJsonl.layer({ root: sessions })),
    Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer))
  )

export const layer = ({ provider, sessions }: Options) =>
  AgentLoop.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(model(provider), tools, Persona.layer, storage(sessions))),
    Layer.provideMerge(Definitions.layer)
  )
