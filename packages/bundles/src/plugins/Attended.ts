/**
 * What a composition has more where a person sits in front of it: commands, and completion of what is typed.
 */
import { ModelSelection } from "@dsh/agent/ModelSelection"
import * as Commands from "@dsh/commands/Commands"
import * as HelpCommand from "@dsh/commands/HelpCommand"
import * as ModelCommand from "@dsh/commands/ModelCommand"
import { FileReferences } from "@dsh/context/FileReferences"
import * as FileReferencesLocal from "@dsh/context/FileReferencesLocal"
import * as Plugin from "@dsh/kernel/Plugin"
import { Llm } from "@dsh/llm/Llm"
import * as PermissionCommand from "@dsh/permission/PermissionCommand"
import { PermissionPresets } from "@dsh/permission/PermissionPresets"
import { Rewind } from "@dsh/rewind/Rewind"
import * as RewindCommand from "@dsh/rewind/RewindCommand"
import * as RewindLocal from "@dsh/rewind/RewindLocal"
import { EventTypes } from "@dsh/session/EventTypes"
import { SessionRead, Sessions } from "@dsh/session/Sessions"
import { ToolResult } from "@dsh/tools/ToolHooks"
import { Fs } from "@dsh/world/Fs"
import * as Schema from "effect/Schema"

const exact = { exact: true } as const

const commands = Plugin.make({
  name: "@dsh/commands/Commands",
  description: "The registry of what people tell a session with a slash.",
  provides: [Commands.Commands],
  requires: [EventTypes],
  layer: () => Commands.layer
})

const help = Plugin.make({
  name: "@dsh/commands/HelpCommand",
  description: "/help lists the commands.",
  requires: [Commands.Commands],
  layer: () => HelpCommand.layer
})

const model = Plugin.make({
  name: "@dsh/commands/ModelCommand",
  description: "/model says which model is used, or uses another.",
  requires: [Commands.Commands, ModelSelection, Llm],
  layer: () => ModelCommand.layer
})

const permission = Plugin.make({
  name: "@dsh/permission/PermissionCommand",
  description: "/permission says how far tools may go, or changes it.",
  requires: [Commands.Commands, PermissionPresets],
  layer: () => PermissionCommand.layer
})

const rewind = Plugin.make({
  name: "@dsh/rewind/RewindLocal",
  description: "Goes back to earlier turns, with what FileRecording keeps.",
  config: Schema.Struct({
    root: Schema.NonEmptyString.annotations({ description: "The folder of FileRecording, absolute." })
  }),
  provides: [Rewind],
  requires: [Sessions, SessionRead],
  layer: RewindLocal.layer
})

const rewindCommand = Plugin.make({
  name: "@dsh/rewind/RewindCommand",
  description: "/rewind goes back to an earlier turn.",
  requires: [Commands.Commands, Rewind],
  layer: () => RewindCommand.layer
})

const fileReferences = Plugin.make({
  name: "@dsh/context/FileReferencesLocal",
  description: "Completes paths while a message is typed.",
  config: Schema.Struct({
    maxResults: Schema.optionalWith(Schema.Int.pipe(Schema.positive()), exact).annotations({
      description: "How many candidates there are at most. Default 20."
    }),
    maxEntries: Schema.optionalWith(Schema.Int.pipe(Schema.positive()), exact).annotations({
      description: "Files and folders that are looked at. Default 10 000."
    })
  }),
  provides: [FileReferences],
  requires: [Fs, ToolResult],
  layer: FileReferencesLocal.layer
})

export const plugins = [commands, help, model, permission, rewind, rewindCommand, fileReferences]
