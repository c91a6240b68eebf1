/**
 * The file tools over real files, run the way an agent runs them.
 */
import { CallId } from "@dsh/protocol/Ids"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import type { Session } from "@dsh/session/Session"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import type { ToolOutcome } from "@dsh/tools/ToolHooks"
import * as ToolPipeline from "@dsh/tools/ToolPipeline"
import * as Tools from "@dsh/tools/Tools"
import * as FsLocal from "@dsh/world/FsLocal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as NodeFs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as EditTool from "../src/EditTool.ts"
import * as ObservedFiles from "../src/ObservedFiles.ts"
import * as ReadTool from "../src/ReadTool.ts"
import * as WriteTool from "../src/WriteTool.ts"

const seams = Layer.mergeAll(Tools.layer, SystemPrompt.layer, ToolHooks.layer, FsLocal.layer, ObservedFiles.layer)

export const tools = Layer.mergeAll(ReadTool.layer, WriteTool.layer, EditTool.layer).pipe(Layer.provideMerge(seams))

/** A new folder, canonical path, removed with the Scope, and what one does with files in it. */
export const folder = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => NodeFs.realpathSync(NodeFs.mkdtempSync(Path.join(Os.tmpdir(), "dsh-test-")))),
    (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
  ),
  (dir) => ({
    dir,
    at: (name: string) => Path.join(dir, name),
    put: (name: string, content: string | Uint8Array) => NodeFs.writeFileSync(Path.join(dir, name), content),
    bytes: (name: string) => NodeFs.readFileSync(Path.join(dir, name)),
    text: (name: string) => NodeFs.readFileSync(Path.join(dir, name), "utf8")
  })
)

let calls = 0

export const call = (name: string, args: object, session?: Session) =>
  ToolPipeline.execute({ callId: CallId(`call-${++calls}`), name, arguments: args, session })

export const textOf = (outcome: ToolOutcome): string =>
  outcome.content.map((block) => (block.type === "text" ? block.text : "")).join("")

export const codeOf = (outcome: ToolOutcome): string | undefined =>
  outcome.isError ? outcome.error.info?.code : undefined

export const read = (file_path: string, args: object = {}, session?: Session) =>
  call("read", { file_path, ...args }, session)

export const write = (file_path: string, content: string, session?: Session) =>
  call("write", { file_path, content }, session)

export const edit = (file_path: string, old_string: string, new_string: string, args: object = {}, session?: Session) =>
  call("edit", { file_path, old_string, new_string, ...args }, session)
