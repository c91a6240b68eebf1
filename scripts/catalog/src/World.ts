/**
 * A world to boot tools in: files in memory, and programs that nobody starts.
 */
import * as AttachmentsLocal from "@dsh/attachments/AttachmentsLocal"
import { Composition, RealmComposition } from "@dsh/compose/Composition"
import { PresetLibrary } from "@dsh/compose/PresetLibrary"
import * as ObservedFiles from "@dsh/files/ObservedFiles"
import { CodeRuntime } from "@dsh/code-mode/CodeRuntime"
import * as Definitions from "@dsh/loop/Definitions"
import * as Approval from "@dsh/permission/Approval"
import * as PermissionRules from "@dsh/permission/PermissionRules"
import * as BashLocal from "@dsh/shell/BashLocal"
import * as JobsLocal from "@dsh/shell/JobsLocal"
import * as TerminalsLocal from "@dsh/terminal/TerminalsLocal"
import { Markdown } from "@dsh/web/Markdown"
import * as Web from "@dsh/web/Web"
import * as FsMemory from "@dsh/world/FsMemory"
import { Subprocess, SubprocessError } from "@dsh/world/Subprocess"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const idle = new SubprocessError({ code: "SUBPROCESS_SPAWN_FAILED", message: "nothing is started here" })

const programs = Layer.succeed(Subprocess, {
  spawn: () => Effect.fail(idle),
  openPty: () => Effect.fail(idle),
  resolveExecutable: () => Effect.fail(idle)
})

const empty: Composition["Type"] = {
  rows: () => [],
  context: () => Context.empty(),
  change: () => Effect.succeed({ added: [], removed: [], restarted: [] })
}

const composition = Layer.merge(Layer.succeed(Composition, empty), Layer.succeed(RealmComposition, empty))

const presets = Layer.succeed(PresetLibrary, {
  sources: { shipped: {}, shippedFolder: Effect.succeed("/presets"), userFolder: "/home/.agent-presets" },
  host: () => {
    throw new Error("nothing is composed here")
  },
  rows: () => []
})

export const layer = Layer.mergeAll(
  Approval.layer(),
  BashLocal.layer(),
  FileSystem.layerNoop({}),
  PermissionRules.layerMemory([]),
  composition,
  presets,
  ObservedFiles.layer,
  AttachmentsLocal.layer({ root: "/attachments" }),
  JobsLocal.layer(),
  TerminalsLocal.layer,
  Web.layer(),
  Layer.succeed(CodeRuntime, { language: "typescript", isolation: "none", run: () => Effect.succeed({ logs: [] }) }),
  Layer.succeed(Markdown, { convert: () => Effect.succeedNone })
).pipe(Layer.provideMerge(Layer.mergeAll(FsMemory.layer(), programs)), Layer.provideMerge(Definitions.layer))

export type World = Layer.Layer.Success<typeof layer>
