/**
 * What makes an agent of the loop: its model, its memory, its guards, what it is told, and what it may do.
 */
import * as RepeatGuard from "@dsh/agent/RepeatGuard"
import { AgentCreated, AgentDisposed, AgentRequest, PreStep, RequestError } from "@dsh/agent/AgentHooks"
import { Budgets, ModelPrices } from "@dsh/agent/Budgets"
import * as AgentInstructions from "@dsh/context/AgentInstructions"
import * as FileReferencesPrompt from "@dsh/context/FileReferencesPrompt"
import { Attachments } from "@dsh/attachments/Attachments"
import { GuardedHttp } from "@dsh/http/GuardedHttp"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as Plugin from "@dsh/kernel/Plugin"
import { Llm, LlmStream } from "@dsh/llm/Llm"
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import * as LlmOutputLimit from "@dsh/llm/LlmOutputLimit"
import * as LlmRepetition from "@dsh/llm/LlmRepetition"
import * as LlmRetry from "@dsh/llm/LlmRetry"
import * as RetryPolicy from "@dsh/llm/RetryPolicy"
import * as Approval from "@dsh/permission/Approval"
import * as ApprovalContext from "@dsh/permission/ApprovalContext"
import * as PermissionPolicy from "@dsh/permission/PermissionPolicy"
import * as PermissionPresets from "@dsh/permission/PermissionPresets"
import { PermissionRules } from "@dsh/permission/PermissionRules"
import * as PermissionRulesFile from "@dsh/permission/PermissionRulesFile"
import { ShellSyntax } from "@dsh/permission/ShellSyntax"
import * as ShellSyntaxTreeSitter from "@dsh/permission/ShellSyntaxTreeSitter"
import * as WebApproval from "@dsh/permission/WebApproval"
import * as Checkpoints from "@dsh/persistence/Checkpoints"
import * as InPlace from "@dsh/persistence/InPlace"
import * as PersistenceJsonl from "@dsh/persistence/PersistenceJsonl"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import * as WriteBehind from "@dsh/persistence/WriteBehind"
import { AssemblePrompt } from "@dsh/prompt/Assembly"
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import * as SystemPrompts from "@dsh/prompt/SystemPrompt"
import { SandboxPolicy } from "@dsh/sandbox/SandboxPolicy"
import { EventTypes } from "@dsh/session/EventTypes"
import {
  SessionCreated,
  SessionDisposed,
  SessionFlush,
  SessionRead,
  SessionRestore,
  Sessions
} from "@dsh/session/Sessions"
import * as SpillFs from "@dsh/spill/SpillFs"
import * as SpillPolicy from "@dsh/spill/SpillPolicy"
import { SpillStore } from "@dsh/spill/SpillStore"
import { AskApproval, Execute, PostExecute, PreExecute } from "@dsh/tools/ToolHooks"
import * as ToolTimeout from "@dsh/tools/ToolTimeout"
import { Tools } from "@dsh/tools/Tools"
import { Fs } from "@dsh/world/Fs"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { DeepSeekConnection } from "../DeepSeekConnection.ts"
import { homedir } from "node:os"

const exact = { exact: true } as const
const Count = Schema.Int.pipe(Schema.positive())

// -----------------------------------------------------------------------------
// platform
// -----------------------------------------------------------------------------

const platform = Plugin.make({
  name: "@effect/platform-node",
  description: "The file system of the product itself, and paths.",
  provides: [FileSystem.FileSystem, Path.Path],
  layer: () => Layer.merge(Layer.provide(InPlace.layer, NodeFileSystem.layer), NodePath.layer)
})

const http = Plugin.make({
  name: "@dsh/http/HttpClientNode",
  description: "HTTP through proxies, with the certificates of the system.",
  provides: [HttpClient.HttpClient],
  layer: () => HttpClientNode.layer
})

const guardedHttp = Plugin.make({
  name: "@dsh/http/GuardedHttp",
  description: "HTTP for addresses that a model chose: nothing private is reached.",
  provides: [GuardedHttp],
  layer: () => HttpClientNode.layerGuarded()
})

// -----------------------------------------------------------------------------
// model
// -----------------------------------------------------------------------------

const deepSeek = Plugin.make({
  name: "@dsh/llm/LlmDeepSeek",
  description: "The DeepSeek API.",
  requires: [Llm, HttpClient.HttpClient, DeepSeekConnection],
  uses: [Attachments],
  layer: () => Layer.unwrapEffect(Effect.map(DeepSeekConnection, (connection) => LlmDeepSeek.layer({ connection })))
})

const outputLimit = Plugin.make({
  name: "@dsh/llm/LlmOutputLimit",
  description: "Asks for no longer answers than there is room for.",
  requires: [RequestError, AgentRequest, EventTypes, Llm],
  layer: () => LlmOutputLimit.layer
})

const retry = Plugin.make({
  name: "@dsh/llm/LlmRetry",
  description: "Tries a failed request again, when that may help.",
  config: Schema.Struct({
    maxRetries: Schema.optionalWith(Schema.NonNegativeInt, exact).annotations({
      description: "How often. Default: as the policy of the provider has it."
    })
  }),
  requires: [RequestError, EventTypes, Llm],
  layer: ({ maxRetries }) =>
    maxRetries === undefined ? LlmRetry.layer : LlmRetry.layerPolicy({ ...RetryPolicy.normal, maxRetries })
})

const repetition = Plugin.make({
  name: "@dsh/llm/LlmRepetition",
  description: "Stops a model whose thoughts go round in circles.",
  requires: [LlmStream, RequestError],
  // The answer may be long and monotonous because somebody wants it so.
  layer: () => LlmRepetition.layerThoughts
})

// -----------------------------------------------------------------------------
// memory
// -----------------------------------------------------------------------------

const persistence = Plugin.make({
  name: "@dsh/persistence/PersistenceJsonl",
  description: "Session logs as plain text, one JSON value per line.",
  config: Schema.Struct({ root: Schema.NonEmptyString.annotations({ description: "The folder, absolute." }) }),
  provides: [SessionPersistence],
  requires: [FileSystem.FileSystem, Path.Path],
  layer: PersistenceJsonl.layer
})

const writeBehind = Plugin.make({
  name: "@dsh/persistence/WriteBehind",
  description: "Writes what is logged while the agent goes on.",
  requires: [Sessions, SessionCreated, SessionDisposed, SessionFlush, SessionRead, SessionRestore, SessionPersistence],
  layer: () => WriteBehind.layer
})

const checkpoints = Plugin.make({
  name: "@dsh/persistence/Checkpoints",
  description: "Hands the log to the operating system before a request is sent and before a tool runs.",
  requires: [Sessions, LlmStream, Execute],
  layer: () => Checkpoints.layer
})

const spillStore = Plugin.make({
  name: "@dsh/spill/SpillFs",
  description: "Keeps what is too long for the conversation among the files of the world.",
  provides: [SpillStore],
  requires: [Fs],
  layer: () => SpillFs.layer()
})

const spill = Plugin.make({
  name: "@dsh/spill/SpillPolicy",
  description: "Puts long results into files.",
  config: Schema.Struct({
    maxInlineBytes: Schema.optionalWith(Count, { default: () => 50_000 }).annotations({
      description: "Longer results are put into a file, in bytes of UTF-8."
    })
  }),
  requires: [Execute, PostExecute],
  uses: [SpillStore],
  layer: SpillPolicy.layer
})

// -----------------------------------------------------------------------------
// guards
// -----------------------------------------------------------------------------

const timeout = Plugin.make({
  name: "@dsh/tools/ToolTimeout",
  description: "Holds tools to their deadlines.",
  requires: [Execute, Tools],
  layer: () => ToolTimeout.layer()
})

const repeatGuard = Plugin.make({
  name: "@dsh/agent/RepeatGuard",
  description: "Reminds an agent that makes the same call again and again, and ends its turn in the end.",
  config: Schema.Struct({
    limit: Schema.optionalWith(Count, exact).annotations({
      description: "How often before the turn is ended. Default 12."
    }),
    pollingLimit: Schema.optionalWith(Count, exact).annotations({
      description: "The same, for calls that wait before they look. Default 60."
    }),
    reminders: Schema.optionalWith(Schema.Array(Count), exact).annotations({
      description: "How often before a reminder is given. Default 3, 5, 8."
    })
  }),
  requires: [PreStep, SessionCreated],
  layer: RepeatGuard.layer
})

const Limit = Schema.optionalWith(Count, exact)

const budgets = Plugin.make({
  name: "@dsh/agent/BudgetsPerTree",
  description: "What an agent and those that work for it may use before they are ended.",
  config: Schema.Struct({
    steps: Limit.annotations({ description: "Requests to the model, with the tool calls they ask for." }),
    turns: Limit.annotations({ description: "Prompts that it works on, those of others included." }),
    tokens: Limit.annotations({ description: "In and out, those from the provider's cache included." }),
    cost: Schema.optionalWith(
      Schema.Struct({ amount: Schema.Positive, currency: Schema.NonEmptyTrimmedString }),
      exact
    ).annotations({ description: "By the prices in the settings; a model without a price is not asked." }),
    timeMs: Limit.annotations({ description: "Milliseconds. What runs when they are over is interrupted." })
  }),
  provides: [Budgets],
  requires: [AgentCreated, AgentDisposed, AgentRequest, PreStep],
  uses: [ModelPrices],
  layer: (limits) =>
    Layer.unwrapEffect(
      Effect.map(
        Effect.promise(() => import("@dsh/agent/BudgetsPerTree")),
        (module) => module.layer(limits)
      )
    )
})

// -----------------------------------------------------------------------------
// what the model is told
// -----------------------------------------------------------------------------

const section = Plugin.make({
  name: "@dsh/prompt/PromptSection",
  description: "A part of the system prompt.",
  config: Schema.Struct({
    name: Schema.NonEmptyString.annotations({ description: "Unique among the sections." }),
    order: Schema.optionalWith(Schema.Number, { default: () => 0 }).annotations({
      description: "Identity -100, persona 0, tool guidance 100 to 199."
    }),
    text: Schema.String.annotations({ description: "May name {{model}}, {{provider}} and {{cwd}}." }),
    complete: Schema.optionalWith(Schema.Boolean, { default: () => false }).annotations({
      description: "It is the whole of what the model is told: no other section, and no runtime context."
    })
  }),
  requires: [SystemPrompt],
  layer: ({ complete, ...own }) => {
    const alone = SystemPrompts.layerSection({ ...own, complete })
    return complete
      ? Layer.merge(alone, Layer.scopedDiscard(Effect.flatMap(SystemPrompt, (prompt) => prompt.suppressContexts)))
      : alone
  }
})

const variables = Plugin.make({
  name: "@dsh/prompt/PromptVariables",
  description: "What sections may name: {{model}}, {{provider}} and {{cwd}}.",
  requires: [SystemPrompt],
  layer: () =>
    Layer.scopedDiscard(
      Effect.gen(function* () {
        const prompt = yield* SystemPrompt
        yield* prompt.variable("model", ({ model }) => model)
        yield* prompt.variable("provider", ({ provider }) => provider)
        yield* prompt.variable("cwd", ({ session }) => session.header.cwd)
      })
    )
})

const instructions = Plugin.make({
  name: "@dsh/context/AgentInstructions",
  description: "Tells the model what the AGENTS.md files of the user and the project say.",
  config: Schema.Struct({
    home: Schema.optionalWith(Schema.NonEmptyString, exact).annotations({
      description: "A folder whose AGENTS.md holds for every project. Absolute."
    }),
    maxBytes: Schema.optionalWith(Schema.NonNegativeInt, exact).annotations({
      description: "Of what one message quotes. 0: no instructions at all. Default 65 536."
    })
  }),
  requires: [PreStep, Fs],
  uses: [SandboxPolicy],
  layer: AgentInstructions.layer
})

const fileReferences = Plugin.make({
  name: "@dsh/context/FileReferencesPrompt",
  description: "Tells the model what @path in a message means.",
  requires: [SystemPrompt, AssemblePrompt],
  layer: () => FileReferencesPrompt.layer
})

// -----------------------------------------------------------------------------
// what it may do
// -----------------------------------------------------------------------------

const approval = Plugin.make({
  name: "@dsh/permission/Approval",
  description: "Asks whoever is there before what is not allowed without.",
  config: Schema.Struct({
    policy: Schema.optionalWith(Schema.Literal("ask", "never"), exact).annotations({
      description: "Of sessions whose log says nothing. Default `ask`."
    })
  }),
  provides: [Approval.Approval, Approval.AnswerApproval],
  requires: [AskApproval, EventTypes, Sessions],
  layer: Approval.layer
})

const permissionPresets = Plugin.make({
  name: "@dsh/permission/PermissionPresets",
  description: "Names for how far the tools of a session may go.",
  config: Schema.Struct({
    preset: Schema.optionalWith(Schema.NonEmptyString, exact).annotations({
      description: "Of new sessions: read-only, workspace-write or danger-full-access. Default workspace-write."
    })
  }),
  provides: [PermissionPresets.PermissionPresets],
  requires: [Approval.Approval, AgentCreated, EventTypes],
  layer: (options) => PermissionPresets.layer(options)
})

const approvalContext = Plugin.make({
  name: "@dsh/permission/ApprovalContext",
  description: "Tells the model whether somebody is asked.",
  config: Schema.Struct({
    attended: Schema.optionalWith(Schema.Boolean, { default: () => false }).annotations({
      description: "Somebody is there to answer. Default: nobody is."
    })
  }),
  requires: [SystemPrompt],
  uses: [Approval.Approval],
  layer: ({ attended }) => (attended ? ApprovalContext.layer : ApprovalContext.layerUnattended)
})

const shellSyntax = Plugin.make({
  name: "@dsh/permission/ShellSyntaxTreeSitter",
  description: "Reads shell commands, so that rules judge each of them. Loaded when there are rules.",
  provides: [ShellSyntax],
  layer: () => ShellSyntaxTreeSitter.layer
})

const permissionRules = Plugin.make({
  name: "@dsh/permission/PermissionRulesFile",
  description: "The rules of the user and of the folder: what is allowed, asked for, denied.",
  config: Schema.Struct({
    folder: Schema.NonEmptyString.annotations({ description: "Where the user's settings are. Absolute." })
  }),
  provides: [PermissionRules],
  requires: [FileSystem.FileSystem],
  layer: ({ folder }) => PermissionRulesFile.layer({ folder, home: homedir() })
})

const permissionPolicy = Plugin.make({
  name: "@dsh/permission/PermissionPolicy",
  description: "Judges each call by the rules. Rules that cannot be read end a run before it begins.",
  requires: [PreExecute, AskApproval, PermissionRules, Approval.Approval, ShellSyntax, EventTypes, Fs],
  layer: () =>
    Layer.merge(
      PermissionPolicy.layer,
      Layer.effectDiscard(Effect.flatMap(PermissionRules, (rules) => rules.of(process.cwd())))
    )
})

const webApproval = Plugin.make({
  name: "@dsh/permission/WebApproval",
  description: "Judges each host that a page is fetched from.",
  requires: [PreExecute, PermissionRules, Approval.Approval],
  uses: [SandboxPolicy],
  layer: () => WebApproval.layer
})

export const plugins = [
  platform,
  http,
  guardedHttp,
  deepSeek,
  outputLimit,
  retry,
  repetition,
  persistence,
  writeBehind,
  checkpoints,
  spillStore,
  spill,
  timeout,
  repeatGuard,
  budgets,
  section,
  variables,
  instructions,
  fileReferences,
  approval,
  permissionPresets,
  approvalContext,
  shellSyntax,
  permissionRules,
  permissionPolicy,
  webApproval
]
