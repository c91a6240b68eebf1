/**
 * What an agent needs that writes presets.
 */
import * as AuthoringTools from "@dsh/authoring/AuthoringTools"
import { RealmComposition } from "@dsh/compose/Composition"
import { PresetLibrary } from "@dsh/compose/PresetLibrary"
import * as Plugin from "@dsh/kernel/Plugin"
import { Approval } from "@dsh/permission/Approval"
import { PermissionRules } from "@dsh/permission/PermissionRules"
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import { SandboxPolicy } from "@dsh/sandbox/SandboxPolicy"
import { PreExecute } from "@dsh/tools/ToolHooks"
import { Tools } from "@dsh/tools/Tools"
import * as FileSystem from "@effect/platform/FileSystem"

const tools = Plugin.make({
  name: "@dsh/authoring/AuthoringTools",
  description: "The tools `compose_list`, `compose_describe`, `preset_read`, `preset_write` and `preset_validate`.",
  requires: [
    Tools,
    SystemPrompt,
    PreExecute,
    PermissionRules,
    Approval,
    PresetLibrary,
    RealmComposition,
    FileSystem.FileSystem
  ],
  uses: [SandboxPolicy],
  layer: () => AuthoringTools.layer
})

export const plugins = [tools]
