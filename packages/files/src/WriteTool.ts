/**
 * The `write` tool: a file created, or replaced as a whole.
 */
import * as GuidedTool from "@dsh/prompt/GuidedTool"
import type { PromptError, SystemPrompt } from "@dsh/prompt/SystemPrompt"
import * as Tool from "@dsh/tools/Tool"
import type { ToolRegistrationError, Tools } from "@dsh/tools/Tools"
import { Fs, FsError } from "@dsh/world/Fs"
import type { FileContent, FsTarget } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Escalating from "./Escalating.ts"
import * as FileRegion from "./FileRegion.ts"
import * as FileTool from "./FileTool.ts"
import * as ObservedFiles from "./ObservedFiles.ts"
import * as ResultViews from "./ResultViews.ts"
import * as TextFile from "./TextFile.ts"

const parameters = {
  file_path: FileTool.FilePath,
  content: Schema.String.annotations({ description: "The whole new content." })
}

const Value = Schema.Struct({
  path: Schema.String,
  operation: Schema.Literal("create", "update"),
  before: Schema.NullOr(Schema.String),
  after: Schema.NullOr(Schema.String),
  observed: FileTool.Observed
})

const section = {
  name: "write",
  order: 101,
  text: "Create files with the write tool, not with echo or a here-document."
}

const define = (escalation: boolean): Tool.Tool<Fs | ObservedFiles.ObservedFiles> =>
  Tool.make({
    name: "write",
    description:
      "Writes a file: creates it, with the folders it needs, or replaces all of its content. An existing file has to have been read before; its encoding and permissions are kept. To change a part of a file use edit.",
    parameters: Escalating.parameters(parameters, escalation),
    output: Value,
    timeout: FileTool.timeout,
    execute: ({ content, file_path }, { cwd, session }) =>
      Effect.gen(function* () {
        const fs = yield* Fs
        const observed = yield* ObservedFiles.ObservedFiles
        const target = yield* fs.resolve(file_path, { cwd })
        const key = target.targetKey

        const admit = Effect.fnUntraced(function* (current: FileContent | undefined) {
          const seen = yield* observed.lookup(session, key)
          if (current === undefined) {
            if (seen === undefined || seen === "absent") return undefined
            yield* observed.record(session, key, "absent")
            return yield* vanished(target)
          }
          const file = yield* Effect.mapError(FileTool.opened(target, current), unreplaceable)
          if (seen === undefined || seen === "absent") return yield* unread(target)
          if (seen.version === current.version) return file
          const shown = TextFile.textOf(file, file.units)
          if (FileRegion.isWhole(shown)) yield* observed.record(session, key, { version: current.version })
          return yield* stale(target, shown)
        })

        const { value, written } = yield* fs.modify(
          target,
          (current) => Effect.flatMap(admit(current), (file) => replace(target, file, content)),
          { maxBytes: FileTool.maxFileBytes }
        )
        const { operation, version } = written
        yield* observed.record(session, key, { version })
        return { path: target.displayPath, operation, ...value, observed: { key, version } }
      }).pipe(Effect.mapError(Escalating.failed(escalation))),
    render: ({ content }, { operation, path }) =>
      FileTool.show(path, `(${operation === "create" ? "created" : "updated"}, ${FileRegion.size(content)})`),
    meta: (_, { after, before, observed, operation, path }) => ({
      ...ObservedFiles.meta(observed),
      ...(after !== null && (before !== null || operation === "create") && ResultViews.diffMeta(path, before, after))
    }),
    present: {
      call: ({ content, file_path }) => ({
        view: "diff",
        title: `Write ${file_path}`,
        diffs: [{ path: file_path, oldText: null, newText: content }]
      }),
      result: ({ isError, meta }) => (isError ? undefined : ResultViews.diff(meta))
    }
  })

export const tool: Tool.Tool<Fs | ObservedFiles.ObservedFiles> = define(false)

type ToolLayer = Layer.Layer<
  never,
  ToolRegistrationError | PromptError,
  Tools | SystemPrompt | Fs | ObservedFiles.ObservedFiles
>

export const layer: ToolLayer = GuidedTool.layer(tool, section)

/** Calls can ask for more rights than their session has; for compositions with `SandboxEscalation` and somebody to ask. */
export const layerEscalating: ToolLayer = GuidedTool.layer(define(true), section)

const replace = (target: FsTarget, file: TextFile.TextFile | undefined, content: string) => {
  const shown = (text: string) => (text.length < FileTool.maxDiffBytes ? text : null)
  if (file === undefined) {
    return Effect.succeed({ value: { before: null, after: shown(content) }, bytes: Buffer.from(content, "utf8") })
  }
  return Effect.map(FileTool.writable(target, file, content), () => ({
    value: { before: shown(TextFile.textOf(file, file.units)), after: shown(content) },
    bytes: TextFile.bytesOf(file, TextFile.unitsOf(file, content))
  }))
}

const unread = ({ displayPath }: FsTarget): FsError =>
  new FsError({ code: "FS_NOT_OBSERVED", message: `${displayPath} exists; read it before you replace it` })

const vanished = ({ displayPath }: FsTarget): FsError =>
  new FsError({
    code: "FS_STALE_VERSION",
    message: `${displayPath} no longer exists; write it again if it is to be created anew`
  })

const stale = ({ displayPath }: FsTarget, text: string): FsError =>
  new FsError({
    code: "FS_STALE_VERSION",
    message: `${displayPath} has changed since you last saw it. It now begins:\n${FileRegion.head(text)}\nRead what is not shown here before you replace it.`
  })

const unreplaceable = ({ cause, code, message }: FsError): FsError =>
  new FsError({ code, message: `${message}; delete it first if it is really to be replaced`, cause })
