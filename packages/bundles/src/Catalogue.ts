/**
 * The plugins that are in the box. Those that nearly every run needs are loaded together; the others when a row names them.
 */
import type { Catalogue } from "@dsh/compose/Catalogue"
import { unknown } from "@dsh/compose/Resolve"
import type { Plugin } from "@dsh/kernel/Plugin"
import * as Effect from "effect/Effect"
import * as Core from "./plugins/Core.ts"
import * as Guards from "./plugins/Guards.ts"
import * as Memory from "./plugins/Memory.ts"
import * as Model from "./plugins/Model.ts"
import * as Permission from "./plugins/Permission.ts"
import * as Platform from "./plugins/Platform.ts"
import * as Prompt from "./plugins/Prompt.ts"
import * as Rewinding from "./plugins/Rewinding.ts"
import * as Tools from "./plugins/Tools.ts"
import * as World from "./plugins/World.ts"

const standing: ReadonlyMap<string, Plugin> = new Map(
  [Core, World, Platform, Model, Memory, Guards, Prompt, Permission, Tools, Rewinding]
    .flatMap(({ plugins }): ReadonlyArray<Plugin> => plugins)
    .map((plugin) => [plugin.name, plugin])
)

type Loader = () => Promise<{ readonly plugins: ReadonlyArray<Plugin> }>

const attended: Loader = () => import("./plugins/Attended.ts")
const authoring: Loader = () => import("./plugins/Authoring.ts")
const images: Loader = () => import("./plugins/Images.ts")
const terminals: Loader = () => import("./plugins/Terminals.ts")
const programs: Loader = () => import("./plugins/Programs.ts")
const others: Loader = () => import("./plugins/Others.ts")

/** Where the plugins are that few compositions name. */
const rare: Readonly<Record<string, Loader>> = {
  "@dsh/attachments/AttachmentsLocal": images,
  "@dsh/authoring/AuthoringTools": authoring,
  "@dsh/attachments/RequestImages": images,
  "@dsh/files/ReadImageTool": images,
  "@dsh/files/StrReplaceEditorTool": terminals,
  "@dsh/shell/PersistentBashTool": terminals,
  "@dsh/terminal/TerminalBash": terminals,
  "@dsh/terminal/TerminalTools": terminals,
  "@dsh/terminal/TerminalsLocal": terminals,
  "@dsh/commands/Commands": attended,
  "@dsh/commands/HelpCommand": attended,
  "@dsh/commands/ModelCommand": attended,
  "@dsh/permission/PermissionCommand": attended,
  "@dsh/rewind/RewindCommand": attended,
  "@dsh/rewind/RewindLocal": attended,
  "@dsh/context/FileReferencesLocal": attended,
  "@dsh/code-mode/CodeMode": programs,
  "@dsh/code-mode/CodeRuntimeQuickJs": programs,
  "@dsh/code-mode/Presentation": programs,
  "@dsh/context/TimeContext": others,
  "@dsh/llm/LlmCassette": others,
  "@dsh/llm/LlmFallback": others,
  "@dsh/llm/LlmOpenAiCompatible": others,
  "@dsh/loop/RequestInvariant": others,
  "@dsh/persistence/PersistenceMemory": others,
  "@dsh/persistence-sqlite/PersistenceSqlite": () => import("./plugins/Sqlite.ts"),
  "@dsh/sandbox/SandboxEscalation": others,
  "@dsh/session/Invariants": others
}

/** In code-unit order. */
export const names: ReadonlyArray<string> = [...standing.keys(), ...Object.keys(rare)].sort()

/** What is in the box, and nothing else. */
export const catalogue: Catalogue = {
  names,
  find: (name) => {
    const plugin = standing.get(name)
    if (plugin !== undefined) return Effect.succeed(plugin)
    const load = Object.hasOwn(rare, name) ? rare[name] : undefined
    if (load === undefined) return Effect.fail(unknown(name, names))
    return Effect.flatMap(Effect.promise(load), ({ plugins }) => {
      const found = plugins.find((plugin) => plugin.name === name)
      return found === undefined ? Effect.fail(unknown(name, names)) : Effect.succeed(found)
    })
  }
}
