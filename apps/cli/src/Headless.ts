/**
 * The agent of the command line: the one place where backends meet. Every line is a choice that can be made differently elsewhere.
 */
import * as RepeatGuard from "@dsh/agent/RepeatGuard"
import * as StepBudget from "@dsh/agent/StepBudget"
import type { Mode } from "@dsh/code-mode/ToolsMode"
import * as AgentInstructions from "@dsh/context/AgentInstructions"
import * as FileReferencesPrompt from "@dsh/context/FileReferencesPrompt"
import * as EditTool from "@dsh/files/EditTool"
import * as GlobTool from "@dsh/files/GlobTool"
import * as GrepTool from "@dsh/files/GrepTool"
import * as ObservedFiles from "@dsh/files/ObservedFiles"
import * as ReadTool from "@dsh/files/ReadTool"
import * as WriteTool from "@dsh/files/WriteTool"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as LlmCassette from "@dsh/llm/LlmCassette"
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import * as LlmOutputLimit from "@dsh/llm/LlmOutputLimit"
import * as LlmRepetition from "@dsh/llm/LlmRepetition"
import * as LlmRetry from "@dsh/llm/LlmRetry"
import * as RetryPolicy from "@dsh/llm/RetryPolicy"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import * as RequestInvariant from "@dsh/loop/RequestInvariant"
import * as Approval from "@dsh/permission/Approval"
import * as ApprovalContext from "@dsh/permission/ApprovalContext"
import * as PermissionPolicy from "@dsh/permission/PermissionPolicy"
import * as PermissionPresets from "@dsh/permission/PermissionPresets"
import { PermissionRules } from "@dsh/permission/PermissionRules"
import * as WebApproval from "@dsh/permission/WebApproval"
import * as ShellSyntaxTreeSitter from "@dsh/permission/ShellSyntaxTreeSitter"
import * as InPlace from "@dsh/persistence/InPlace"
import * as Checkpoints from "@dsh/persistence/Checkpoints"
import * as WriteBehind from "@dsh/persistence/WriteBehind"
import * as BashSandbox from "@dsh/shell/BashSandbox"
import * as BashTool from "@dsh/shell/BashTool"
import * as JobNotices from "@dsh/shell/JobNotices"
import * as JobsLocal from "@dsh/shell/JobsLocal"
import * as JobTools from "@dsh/shell/JobTools"
import * as SpillFs from "@dsh/spill/SpillFs"
import * as SpillPolicy from "@dsh/spill/SpillPolicy"
import * as ToolTimeout from "@dsh/tools/ToolTimeout"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as FetchHttp from "@dsh/web/FetchHttp"
import * as MarkdownThread from "@dsh/web/MarkdownThread"
import * as Web from "@dsh/web/Web"
import * as WebFetchTool from "@dsh/web/WebFetchTool"
import * as WebSearchTool from "@dsh/web/WebSearchTool"
import * as Invariants from "@dsh/session/Invariants"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Confined from "./Confined.ts"
import type { Provider } from "./Environment.ts"
import * as HomeFolder from "./HomeFolder.ts"
import * as Permissions from "./Permissions/Layer.ts"
import * as Persona from "./Persona.ts"
import * as Secrets from "./Secrets.ts"
import type { SessionStore } from "./SessionStore.ts"

export interface Options {
  readonly provider: Provider
  readonly sessions: SessionStore
  /** Ends a turn after so many steps. */
  readonly maxSteps?: number | undefined
  /** How often a failed request is tried again; undefined: as the provider's policy has it. */
  readonly maxRetries?: number | undefined
  /** How often the same call may be made with the same result; 0: without an end. Undefined: as the guard has it. */
  readonly maxRepeats?: number | undefined
  /** Records what the model answers, or plays it back. */
  readonly cassette?: LlmCassette.Options | undefined
  /** What new sessions may do. Default `workspace-write`. */
  readonly permission?: PermissionPresets.StandardName | undefined
  /** How tools are presented to the model. Default `native`. */
  readonly toolsMode?: Mode | undefined
  /** Holds the rules of the log against every event and every request. */
  readonly checkInvariants?: boolean
  /** Leaves out the rules of the user and the folder, for a run whose commands are the product's own. */
  readonly unruled?: boolean
}

const standing = "workspace-write"

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
    Layer.merge(BashSandbox.layer({ timeoutMs: 60_000 }), SpillFs.layer()).pipe(
      Layer.provideMerge(Confined.layer(confinement))
    )
  )

/** What makes an agent of the loop. Session logs are written behind and checked before anything irreversible. */
const features = (options: Options) => {
  const { maxRetries, provider } = options
  return Layer.mergeAll(
    model(provider),
    LlmOutputLimit.layer,
    maxRetries === undefined ? LlmRetry.layer : LlmRetry.layerPolicy({ ...RetryPolicy.normal, maxRetries }),
    BashTool.layer,
    JobTools.layer,
    JobNotices.layer(),
    ReadTool.layer,
    WriteTool.layer,
    EditTool.layer,
    GlobTool.layer,
    GrepTool.layer,
    web,
    ToolTimeout.layer(),
    SpillPolicy.layer({ maxInlineBytes: 50_000 }),
    // The answer may be long and monotonous because somebody wants it so.
    LlmRepetition.layerThoughts,
    Persona.layer,
    FileReferencesPrompt.layer,
    Layer.unwrapEffect(Effect.map(HomeFolder.home, (home) => AgentInstructions.layer({ home }))),
    permissions(options),
    programs(options),
    WriteBehind.layer,
    Checkpoints.layer
  )
}

/** Providers are loaded with the first page or search. */
const web = Layer.mergeAll(
  WebSearchTool.layer,
  WebFetchTool.layer,
  FetchHttp.layerConfig(),
  Web.layerSearch(Web.lazySearch({ id: "deepseek-official", load: () => import("@dsh/web/SearchDeepSeek") })),
  Web.layerSearch(Web.lazySearch({ id: "exa", load: () => import("@dsh/web/SearchExa") })),
  Web.layerSearch(Web.lazySearch({ id: "perplexity", load: () => import("@dsh/web/SearchPerplexity") })),
  Web.layerSearch(
    Web.lazySearch({ id: "wikipedia", isLastResort: true, load: () => import("@dsh/web/SearchWikipedia") })
  )
).pipe(Layer.provide([Web.layerConfig, MarkdownThread.layer(), HttpClientNode.layerGuarded()]))

/** Loaded where tools are for programs. */
const programs = ({ toolsMode = "native" }: Options) =>
  toolsMode === "native"
    ? Layer.empty
    : Layer.unwrapEffect(
        Effect.map(
          Effect.promise(() => import("./Programs.ts")),
          ({ layer }) => layer(toolsMode)
        )
      )

/** A limit of one's own is one for calls that wait, too, unless they may be repeated more often anyway. */
const repeatGuard = (maxRepeats: number | undefined) => {
  if (maxRepeats === 0) return Layer.empty
  return RepeatGuard.layer(
    maxRepeats === undefined ? {} : { limit: maxRepeats, pollingLimit: Math.max(60, maxRepeats) }
  )
}

/** Rules that cannot be read end a run before it begins. */
const checked = Layer.effectDiscard(Effect.flatMap(PermissionRules, (rules) => rules.of(process.cwd())))

/** Rules of the user and of the folder, and nobody there to ask. What judges by them is loaded when there are any. */
const rules = Layer.mergeAll(PermissionPolicy.layer, WebApproval.layer, checked).pipe(
  Layer.provide(Layer.merge(ShellSyntaxTreeSitter.layer, Layer.provide(Permissions.layer, files)))
)

/** What a session may do is written into its log when it is made; nobody is there to ask. */
const permissions = ({ permission = standing, unruled = false }: Options) =>
  Layer.mergeAll(
    PermissionPresets.layer({ preset: permission }),
    ApprovalContext.layerUnattended,
    unruled ? Layer.empty : rules
  ).pipe(Layer.provideMerge(Approval.layer()))

const invariants = Layer.merge(Invariants.layer, RequestInvariant.layer)

export const layer = (options: Options) => {
  const { cassette, checkInvariants = false, maxRepeats, maxSteps, permission = standing, provider, sessions } = options
  const unbounded = Layer.merge(features(options), repeatGuard(maxRepeats))
  const agent = maxSteps === undefined ? unbounded : Layer.merge(unbounded, StepBudget.layer({ maxSteps }))
  const all = cassette === undefined ? agent : Layer.merge(agent, Layer.provide(LlmCassette.layer(cassette), files))
  return AgentLoop.layer.pipe(
    Layer.provideMerge(checkInvariants ? Layer.provideMerge(invariants, all) : all),
    Layer.provideMerge(Secrets.layer([provider.apiKey])),
    Layer.provideMerge(backends(sessions, { mode: permission, network: "on" })),
    Layer.provideMerge(Definitions.layer)
  )
}
