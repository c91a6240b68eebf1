/**
 * The search tools over real files and the packaged ripgrep, run the way an agent runs them.
 */
import type { CallId } from "@dsh/protocol/Ids"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import * as Sessions from "@dsh/session/Sessions"
import type { Session } from "@dsh/session/Session"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import * as ToolPipeline from "@dsh/tools/ToolPipeline"
import * as Tools from "@dsh/tools/Tools"
import * as FsLocal from "@dsh/world/FsLocal"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as NodeFs from "node:fs"
import * as Path from "node:path"
import * as GlobTool from "../src/GlobTool.ts"
import * as GrepTool from "../src/GrepTool.ts"
import { folder } from "./support.ts"

export const definitions = Layer.mergeAll(Tools.layer, SystemPrompt.layer, ToolHooks.layer, Sessions.layer)

const world = Layer.mergeAll(definitions, FsLocal.layer, SubprocessLocal.layer())

export const toolsWith = (options: GlobTool.Options & GrepTool.Options) =>
  Layer.merge(GlobTool.layerWith(options), GrepTool.layerWith(options)).pipe(Layer.provideMerge(world))

export const tools = Layer.merge(GlobTool.layer, GrepTool.layer).pipe(Layer.provideMerge(world))

/** A workspace folder with these files, and a session in it. */
export const workspace = (files: Readonly<Record<string, string | Uint8Array>>) =>
  Effect.gen(function* () {
    const made = yield* folder
    for (const [name, content] of Object.entries(files)) put(made.at(name), content)
    const session = yield* (yield* Sessions.Sessions).create({ cwd: made.dir })
    return {
      ...made,
      session,
      glob: (pattern: string, args: object = {}) => call("glob", { pattern, ...args }, session),
      grep: (pattern: string, args: object = {}) => call("grep", { pattern, ...args }, session)
    }
  })

export const put = (path: string, content: string | Uint8Array): void => {
  NodeFs.mkdirSync(Path.dirname(path), { recursive: true })
  NodeFs.writeFileSync(path, content)
}

/** A program in the place of ripgrep: what it does is the body of a shell script. */
export const program = (body: string) =>
  Effect.map(folder, ({ at, put: write }) => {
    write("program", `#!/bin/sh\n${body}\n`)
    NodeFs.chmodSync(at("program"), 0o755)
    return at("program")
  })

let calls = 0

const call = (name: string, args: object, session: Session) =>
  ToolPipeline.execute({ callId: `search-${++calls}` as CallId, name, arguments: args, session })
