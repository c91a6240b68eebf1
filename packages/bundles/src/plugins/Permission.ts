/**
 * What an agent may do, and who is asked.
 */
import { AgentCreated } from "@dsh/agent/AgentHooks"
import * as Plugin from "@dsh/kernel/Plugin"
import * as Approval from "@dsh/permission/Approval"
import * as ApprovalContext from "@dsh/permission/ApprovalContext"
import * as PermissionPolicy from "@dsh/permission/PermissionPolicy"
import * as PermissionPresets from "@dsh/permission/PermissionPresets"
import { PermissionRules } from "@dsh/permission/PermissionRules"
import * as PermissionRulesFile from "@dsh/permission/PermissionRulesFile"
import { ShellSyntax } from "@dsh/permission/ShellSyntax"
import * as ShellSyntaxTreeSitter from "@dsh/permission/ShellSyntaxTreeSitter"
import * as WebApproval from "@dsh/permission/WebApproval"
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import { SandboxPolicy } from "@dsh/sandbox/SandboxPolicy"
import { EventTypes } from "@dsh/session/EventTypes"
import { Sessions } from "@dsh/session/Sessions"
import { AskApproval, PreExecute } from "@dsh/tools/ToolHooks"
import { Fs } from "@dsh/world/Fs"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { homedir } from "node:os"

const exact = { exact: true } as const

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
  approval,
  permissionPresets,
  approvalContext,
  shellSyntax,
  permissionRules,
  permissionPolicy,
  webApproval
]
