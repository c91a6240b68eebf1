/**
 * The tools of an agent that writes presets: what runs and what could, and the presets there are, to read, to write and to check.
 *
 * Presets are files of the product and not of the workspace, so they are written past the sandbox, under the user's folder of presets and
 * nowhere else. A preset can name any part there is, such as one that runs commands unconfined; so writing one is asked about.
 */
import { RealmComposition } from "@dsh/compose/Composition"
import { PresetLibrary } from "@dsh/compose/PresetLibrary"
import type { Approval } from "@dsh/permission/Approval"
import type { PermissionRules } from "@dsh/permission/PermissionRules"
import * as ToolApproval from "@dsh/permission/ToolApproval"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import type { PromptError } from "@dsh/prompt/SystemPrompt"
import type { PreExecute } from "@dsh/tools/ToolHooks"
import * as Tool from "@dsh/tools/Tool"
import { ToolError } from "@dsh/tools/ToolError"
import * as Tools from "@dsh/tools/Tools"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Description from "./AuthoringTools/Description.ts"
import * as Files from "./AuthoringTools/Files.ts"

const Id = Schema.String.annotations({ description: "The id of a preset: lower-case letters, digits and dashes." })

const refused = (error: { readonly code: string; readonly message: string }) =>
  new ToolError({ code: error.code, message: error.message, cause: error })

const composeList = Tool.make({
  name: "compose_list",
  description:
    "Lists what you are made of: the rows of the host plane, which all agents share, and those of your own preset, each with its plugin; and the presets there are. With plugins: true it lists every plugin that a row can name instead.",
  parameters: Schema.Struct({
    plugins: Schema.optional(Schema.Boolean.annotations({ description: "List the plugins. Default false." }))
  }),
  output: Schema.String,
  parallelSafe: true,
  execute: ({ plugins = false }) =>
    Effect.gen(function* () {
      const library = yield* PresetLibrary
      if (plugins) return yield* Description.plugins(library.host().means.catalogue)
      const own = yield* RealmComposition
      return yield* Description.rows(library, own.rows())
    }),
  render: (_, text) => text
})

const composeDescribe = Tool.make({
  name: "compose_describe",
  description:
    "Says what a plugin does, which options it takes, and which services it provides, needs and uses. Takes the name of a plugin, the id of a row that runs, or the key of a service.",
  parameters: Schema.Struct({ name: Schema.String.annotations({ description: "Such as @dsh/files/ReadTool." }) }),
  output: Schema.String,
  parallelSafe: true,
  execute: ({ name }) =>
    Effect.gen(function* () {
      const library = yield* PresetLibrary
      const own = yield* RealmComposition
      return yield* Description.one(name, library.host().means.catalogue, [...own.rows(), ...library.rows()])
    }),
  render: (_, text) => text
})

const presetRead = Tool.make({
  name: "preset_read",
  description:
    "Shows the files of a preset, agent.yml with its rows and preset.yml with what people are told of it, and where they are.",
  parameters: Schema.Struct({ preset: Id }),
  output: Schema.String,
  parallelSafe: true,
  execute: ({ preset }) =>
    Effect.flatMap(PresetLibrary, ({ sources }) => Files.read(sources, preset)).pipe(Effect.mapError(refused)),
  render: (_, text) => text
})

const presetWrite = Tool.make({
  name: "preset_write",
  description:
    "Writes one file of a preset of the user's, the whole of it, and says what is wrong with the preset then. Makes the preset when there is none of that id. Presets of the product cannot be written: write a preset that extends one, or that has its rows.",
  parameters: Schema.Struct({
    preset: Id,
    file: Schema.Literal("agent.yml", "preset.yml"),
    content: Schema.String.annotations({ description: "The whole new content, in YAML." })
  }),
  output: Schema.Struct({ file: Schema.String, judgement: Schema.String }),
  execute: ({ content, file, preset }) =>
    Effect.gen(function* () {
      const library = yield* PresetLibrary
      const written = yield* Files.write(library.sources, preset, file, content)
      return { file: written, judgement: yield* Files.judge(library, preset) }
    }).pipe(Effect.mapError(refused)),
  render: (_, { file, judgement }) => `${file} is written.\n${judgement}`
})

const presetValidate = Tool.make({
  name: "preset_validate",
  description: "Checks a preset against what runs, without starting it, and says all that is wrong with it.",
  parameters: Schema.Struct({ preset: Id }),
  output: Schema.String,
  parallelSafe: true,
  execute: ({ preset }) => Effect.flatMap(PresetLibrary, (library) => Files.judge(library, preset)),
  render: (_, text) => text
})

const section = {
  name: "authoring",
  order: 150,
  text: [
    "You can look at what you are made of and write presets, which are kinds of agents.",
    "There are two planes. The host plane is shared by all agents of a process: models, sessions, the sandbox, approvals, files and programs. It is not changed from here. The preset plane is what one kind of agent has: its tools, its persona and other sections of the prompt, its hooks.",
    "A preset is a folder with agent.yml (a list of rows: id, name of a plugin, config) and preset.yml (name, description, order, extends). With extends: ID it begins with the rows of that preset; what it adds needs ids of its own. A row that provides a service stands in a group with isolate: true, together with the rows that use it.",
    "The presets of the user are in the folder .agent-presets of the home of dsh; compose_list tells where. Those of the product are never edited: begin with a copy of one under another id, or extend it.",
    "First look: compose_list, preset_read, and compose_describe for each plugin you mean to use. Then preset_write, and preset_validate until nothing is wrong. Agents that begin later have what you wrote; you yourself stay as you are. Tell the user how to start one: dsh run --preset ID."
  ].join("\n\n")
}

type Needs =
  | Tools.Tools
  | SystemPrompt.SystemPrompt
  | PreExecute
  | PermissionRules
  | Approval
  | PresetLibrary
  | RealmComposition
  | FileSystem.FileSystem

export const layer: Layer.Layer<never, Tools.ToolRegistrationError | PromptError, Needs> = Layer.mergeAll(
  Tools.layerTool(composeList),
  Tools.layerTool(composeDescribe),
  Tools.layerTool(presetRead),
  Tools.layerTool(presetWrite),
  Tools.layerTool(presetValidate),
  SystemPrompt.layerSection(section),
  ToolApproval.layer({ tool: presetWrite.name, what: "writing presets" })
)
