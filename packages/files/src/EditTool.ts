/**
 * The `edit` tool: one text in a file replaced by another, and nothing else changed.
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
import * as EditMatch from "./EditMatch.ts"
import * as TextEdit from "./EditTool/TextEdit.ts"
import * as FileRegion from "./FileRegion.ts"
import * as FileTool from "./FileTool.ts"
import * as NameHint from "./NameHint.ts"
import * as ObservedFiles from "./ObservedFiles.ts"
import * as ResultViews from "./ResultViews.ts"
import * as TextFile from "./TextFile.ts"

const Parameters = Schema.Struct({
  file_path: FileTool.FilePath,
  old_string: Schema.String.annotations({
    description: "The text to replace, as the file has it, with enough lines around it to occur only once."
  }),
  new_string: Schema.String.annotations({
    description: "What to put in its place, taken literally. Empty deletes the text."
  }),
  replace_all: Schema.optionalWith(
    Schema.Boolean.annotations({ description: "Replace every occurrence. Default false." }),
    FileTool.optional
  )
})

const Value = Schema.Struct({
  path: Schema.String,
  before: Schema.NullOr(Schema.String),
  after: Schema.NullOr(Schema.String),
  lines: Schema.Array(Schema.Number),
  tolerant: Schema.Boolean,
  observed: FileTool.Observed
})

type Arguments = typeof Parameters.Type

const section = {
  name: "edit",
  order: 102,
  text: "Change existing files with the edit tool; replace a whole file with write only when most of it changes."
}

export const tool: Tool.Tool<Fs | ObservedFiles.ObservedFiles> = Tool.make({
  name: "edit",
  description:
    "Replaces text in a file. old_string has to occur exactly once, or set replace_all. Copy it from what read shows, without the line numbers; line ends need not match, and if only spaces and tabs differ in one place, that place is taken and new_string indented like it. The file has to have been read before, and everything else in it stays as it is, byte for byte.",
  parameters: Parameters,
  output: Value,
  timeout: FileTool.timeout,
  execute: (args, { cwd, session }) =>
    Effect.gen(function* () {
      const fs = yield* Fs
      const observed = yield* ObservedFiles.ObservedFiles
      const request = requestOf(args)
      yield* EditMatch.check(request)
      const target = yield* fs.resolve(args.file_path, { cwd })
      const key = target.targetKey

      const admit = Effect.fnUntraced(function* (current: FileContent | undefined) {
        if (current === undefined) {
          yield* observed.record(session, key, "absent")
          return yield* missing(target, yield* NameHint.of(fs, target))
        }
        const seen = yield* observed.lookup(session, key)
        if (seen === undefined || seen === "absent") return yield* unread(target)
        const file = yield* FileTool.opened(target, current)
        if (seen.version === current.version) return file
        // The answer shows how things stand, so the next attempt is an informed one.
        yield* observed.record(session, key, { version: current.version })
        return yield* stale(target, file, args.old_string)
      })

      const { value, written } = yield* fs.modify(
        target,
        (current) => Effect.flatMap(admit(current), (file) => TextEdit.edit(target, file, request)),
        { maxBytes: FileTool.maxFileBytes }
      )
      const version = written.version
      yield* observed.record(session, key, { version })
      return { path: target.displayPath, ...value, observed: { key, version } }
    }).pipe(Effect.mapError(FileTool.failed)),
  render: (_, { lines, path, tolerant }) =>
    `edited ${path}: ${lines.length === 1 ? "1 replacement at line" : `${lines.length} replacements at lines`} ${lines.join(", ")}` +
    (tolerant ? " (whitespace differed from old_string; new_string was indented like the file)" : ""),
  meta: (_, { after, before, observed, path }) => ({
    ...ObservedFiles.meta(observed),
    ...(before !== null && after !== null && ResultViews.diffMeta(path, before, after))
  }),
  present: {
    call: ({ file_path, new_string, old_string }) => ({
      view: "diff",
      title: `Edit ${file_path}`,
      diffs: [{ path: file_path, oldText: old_string, newText: new_string }]
    }),
    result: ({ isError, meta }) => (isError ? undefined : ResultViews.diff(meta))
  }
})

export const layer: Layer.Layer<
  never,
  ToolRegistrationError | PromptError,
  Tools | SystemPrompt | Fs | ObservedFiles.ObservedFiles
> = GuidedTool.layer(tool, section)

const requestOf = ({ new_string, old_string, replace_all = false }: Arguments): EditMatch.Request => ({
  oldText: old_string,
  newText: new_string,
  replaceAll: replace_all
})

const missing = ({ displayPath }: FsTarget, hint: string): FsError =>
  new FsError({ code: "FS_NOT_FOUND", message: `${displayPath} does not exist${hint}` })

const unread = ({ displayPath }: FsTarget): FsError =>
  new FsError({ code: "FS_NOT_OBSERVED", message: `read ${displayPath} before you edit it` })

const stale = ({ displayPath }: FsTarget, file: TextFile.TextFile, wanted: string): FsError => {
  const text = TextFile.textOf(file, file.units)
  return new FsError({
    code: "FS_STALE_VERSION",
    message: `${displayPath} has changed since you last saw it. It now reads:\n${FileRegion.around(text, wanted) ?? FileRegion.head(text)}\nIf the edit still fits, repeat it; otherwise read the file again.`
  })
}
