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
import * as InPlace from "@dsh/persistence/InPlace"
import * as Checkpoints from "@dsh/persistence/Checkpoints"
import * as WriteBehind from "@dsh/persistence/WriteBehind"
import * as BashSandbox from "@dsh/shell/BashSandbox"
import * as BashTool from "@dsh/shell/BashTool"
import * as JobNotices from "@dsh/shell/JobNotices"
import * as JobsLocal from "@dsh/shell/JobsLocal"
import * as JobTools from "@dsh/shell/JobTools"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Invariants from "@dsh/session/Invariants"
import * as Layer from "effect/Layer"
import * as Confined from "./Confined.ts"
import type { Provider } from "./Environment.ts"
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
  /** What sessions that name no mode may do. Default: change their workspace, and use the network. */
  readonly confinement?: Partial<Confined.Options>
  /** Holds the rules of the log against every event and every request. */
  readonly checkInvariants?: boolean
}

const model = ({ apiKey, baseUrl }: Provider) =>
  LlmDeepSeek.layer({ connection: LlmDeepSeek.connection({ apiKey, ...(baseUrl !== undefined && { baseUrl }) }) })

const files = InPlace.layer.pipe(Layer.provide(NodeFileSystem.layer))

/** What the features stand on. */
const backends = (sessions: SessionStore, confinement: Confined.Options) =>
  Layer.mergeAll(
    HttpClientNode.layer,
    ObservedFiles.layer,
    JobsLocal.layer(),
    Layer.provide(sessions, [files, NodePath.layer]),
    Layer.provideMerge(BashSandbox.layer({ timeoutMs: 60_000 }), Confined.layer(confinement))
  )

/** What makes an agent of the loop. Session logs are written behind and checked before anything irreversible. */
const features = (provider: Provider, maxRetries: number | undefined) =>
  Layer.mergeAll(
    model(provider),
    LlmOutputLimit.layer,
    maxRetries === undefined ? LlmRetry.layer : LlmRetry.layerPolicy({ ...RetryPolicy.normal, maxRetries }),
    BashTool.layer,
    JobTools.layer,
    JobNotices.layer(),
    ReadTool.layer,
    WriteTool.layer,
    EditTool.layer,
    Persona.layer,
    WriteBehind.layer,
    Checkpoints.layer
  )

const invariants = Layer.merge(Invariants.layer, RequestInvariant.layer)

const standing: Confined.Options = { mode: "workspace-write", network: "on" }

export const layer = ({
  cassette,
  checkInvariants = false,
  confinement,
  maxRetries,
  maxSteps,
  provider,
  sessions
}: Options) => {
  const unbounded = features(provider, maxRetries)
  const agent = maxSteps === undefined ? unbounded : Layer.merge(unbounded, StepBudget.layer({ maxSteps }))
  const all = cassette === undefined ? agent : Layer.merge(agent, Layer.provide(LlmCassette.layer(cassette), files))
  return AgentLoop.layer.pipe(
    Layer.provideMerge(checkInvariants ? Layer.provideMerge(invariants, all) : all),
    Layer.provideMerge(backends(sessions, { ...standing, ...confinement })),
    Layer.provideMerge(Definitions.layer)
  )
}
