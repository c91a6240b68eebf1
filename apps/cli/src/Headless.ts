/**
 * The agent of the command line: the one place where backends meet. Every line is a choice that can be made differently elsewhere.
 */
import * as StepBudget from "@dsh/agent/StepBudget"
import * as EditTool from "@dsh/files/EditTool"
import * as ObservedFiles from "@dsh/files/ObservedFiles"
import * as ReadTool from "@dsh/files/ReadTool"
import * as WriteTool from "@dsh/files/WriteTool"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as LlmCassette from "@dsh/llm/LlmCassette"
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import * as LlmOutputLimit from "@dsh/llm/LlmOutputLimit"
import * as LlmRetry from "@dsh/llm/LlmRetry"
import * as RetryPolicy from "@dsh/llm/RetryPolicy"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import * as RequestInvariant from "@dsh/loop/RequestInvariant"
import * as Approval from "@dsh/permission/Approval"
import * as PermissionPolicy from "@dsh/permission/PermissionPolicy"
import { PermissionRules } from "@dsh/permission/PermissionRules"
import * as ShellSyntaxTreeSitter from "@dsh/permission/ShellSyntaxTreeSitter"
import * as InPlace from "@dsh/persistence/InPlace"
import * as Checkpoints from "@dsh/persistence/Checkpoints"
import * as WriteBehind from "@dsh/persistence/WriteBehind"
import * as BashLocal from "@dsh/shell/BashLocal"
import * as BashTool from "@dsh/shell/BashTool"
import * as FsLocal from "@dsh/world/FsLocal"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Invariants from "@dsh/session/Invariants"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Provider } from "./Environment.ts"
import * as Permissions from "./Permissions/Layer.ts"
import * as Persona from "./Persona.ts"
import type { SessionStore } from "./SessionStore.ts"

export interface Options {
  readonly provider: Provider
  readonly sessions: SessionStore
  /** Ends a turn after so many steps. */
  readonly maxSteps?: number | undefined
  /** How often a failed request is tried again; undefined: as the provider's policy has it. */
  readonly maxRetries?: number | undefined
  /** Records what the model answers, or plays it back. */
  readonly cassette?: LlmCassette.Options | undefined
  /** Holds the rules of the log against every event and every request. */
  readonly checkInvariants?: boolean
  /** Leaves out the rules of the user and the folder, for a run whose commands are the product's own. */
  readonly unruled?: boolean
}

const model = ({ apiKey, baseUrl }: Provider) =>
  LlmDeepSeek.layer({ connection: LlmDeepSeek.connection({ apiKey, ...(baseUrl !== undefined && { baseUrl }) }) })

const files = InPlace.layer.pipe(Layer.provide(NodeFileSystem.layer))

/** What the features stand on. */
const backends = (sessions: SessionStore) =>
  Layer.mergeAll(
    HttpClientNode.layer,
    BashLocal.layer({ timeoutMs: 60_000 }),
    FsLocal.layer,
    ObservedFiles.layer,
    sessions
  ).pipe(Layer.provide([SubprocessLocal.layer(), files, NodePath.layer]))

/** What makes an agent of the loop. Session logs are written behind and checked before anything irreversible. */
const features = ({ maxRetries, provider, unruled = false }: Options) =>
  Layer.mergeAll(
    model(provider),
    LlmOutputLimit.layer,
    maxRetries === undefined ? LlmRetry.layer : LlmRetry.layerPolicy({ ...RetryPolicy.normal, maxRetries }),
    BashTool.layer,
    ReadTool.layer,
    WriteTool.layer,
    EditTool.layer,
    Persona.layer,
    unruled ? Layer.empty : permissions,
    WriteBehind.layer,
    Checkpoints.layer
  )

/** Rules that cannot be read end a run before it begins. */
const checked = Layer.effectDiscard(Effect.flatMap(PermissionRules, (rules) => rules.of(process.cwd())))

/** Rules of the user and of the folder, and nobody there to ask. What judges by them is loaded when there are any. */
const permissions = Layer.merge(PermissionPolicy.layer, checked).pipe(
  Layer.provideMerge(
    Layer.mergeAll(Approval.layer(), ShellSyntaxTreeSitter.layer, Layer.provide(Permissions.layer, files))
  )
)

const invariants = Layer.merge(Invariants.layer, RequestInvariant.layer)

export const layer = (options: Options) => {
  const { cassette, checkInvariants = false, maxSteps, sessions } = options
  const unbounded = features(options)
  const agent = maxSteps === undefined ? unbounded : Layer.merge(unbounded, StepBudget.layer({ maxSteps }))
  const all = cassette === undefined ? agent : Layer.merge(agent, Layer.provide(LlmCassette.layer(cassette), files))
  return AgentLoop.layer.pipe(
    Layer.provideMerge(checkInvariants ? Layer.provideMerge(invariants, all) : all),
    Layer.provideMerge(backends(sessions)),
    Layer.provideMerge(Definitions.layer)
  )
}
