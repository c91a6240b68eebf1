/**
 * The `edit` tool: one text in a file replaced by another, and nothing else changed.
 */
import * as GuidedTool from "@dsh/prompt/GuidedTool"
import type { PromptError, SystemPrompt } from "@dsh/prompt/SystemPrompt"
import * as Tool from "@dsh/tools/Tool"
import type { ToolRegistrationError, Tools } from "@dsh/tools/Tools"
import { Fs } from "@dsh/world/Fs"
import type { FileContent } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Admission from "./Admission.ts"
import * as Requests from "./EditTool/Requests.ts"
import * as TextEdit from "./EditTool/TextEdit.ts"
import * as Escalating from "./Escalating.ts"
import * as FileTool from "./FileTool.ts"
import * as ObservedFiles from "./ObservedFiles.ts"
import * as ResultViews from "./ResultViews.ts"

const OldString = Schema.String.annotations({
  description: "The text to replace, as the file has it, with enough lines around it to occur only once."
})
const NewString = Schema.String.annotations({
  description: "What to put in its place, taken literally. Empty deletes the text."
})
const ReplaceAll = Schema.optionalWith(
  Schema.Boolean.annotations({ description: "Replace every occurrence. Default false." }),
  FileTool.optional
)

const parameters = {
  file_path: FileTool.FilePath,
  old_string: Schema.optionalWith(OldString, FileTool.optional),
  new_string: Schema.optionalWith(NewString, FileTool.optional),
  replace_all: ReplaceAll,
  edits: Schema.optionalWith(
    Schema.Array(
      Schema.Struct({ old_string: Schema.String, new_string: Schema.String, replace_all: ReplaceAll })
    ).annotations({
      description:
        "Instead of old_string and new_string: several edits of the file, each of what the ones before it left. All of them are made or, if one cannot be, none."
    }),
    FileTool.optional
  )
}

const Value = Schema.Struct({
  path: Schema.String,
  before: Schema.NullOr(Schema.String),
  after: Schema.NullOr(Schema.String),
  lines: Schema.Array(Schema.Number),
  tolerant: Schema.Boolean,
  observed: FileTool.Observed
})

const section = {
  name: "edit",
  order: 102,
  text: "Change existing files with the edit tool; replace a whole file with write only when most of it changes."
}

const define = (escalation: boolean): Tool.Tool<Fs | ObservedFiles.ObservedFiles> =>
  Tool.make({
    name: "edit",
    description:
      "Replaces text in a file, in one place or, with edits, in several. old_string has to occur exactly once, or set replace_all. Copy it from what read shows, without the line numbers; line ends need not match, and if only spaces and tabs differ in one place, that place is taken and new_string indented like it. The file has to have been read before, and everything else in it stays as it is, byte for byte.",
    parameters: Escalating.parameters(parameters, escalation),
    output: Value,
    timeout: FileTool.timeout,
    execute: (args, { cwd, session }) =>
      Effect.gen(function* () {
        const fs = yield* Fs
        const observed = yield* ObservedFiles.ObservedFiles
        const requests = yield* Requests.of(args)
        const target = yield* fs.resolve(args.file_path, { cwd })
        const wanted = requests.list.map(({ oldText }) => oldText)
        const admit = (current: FileContent | undefined) =>
          Admission.admit({ fs, observed, session, target, wanted }, current)

        const { value, written } = yield* fs.modify(
          target,
          (current) => Effect.flatMap(admit(current), (file) => TextEdit.edit(target, file, requests)),
          { maxBytes: FileTool.maxFileBytes }
        )
        const sighting = { key: target.targetKey, version: written.version }
        yield* observed.record(session, sighting.key, { version: sighting.version })
        return { path: target.displayPath, ...value, observed: sighting }
      }).pipe(Effect.mapError(Escalating.failed(escalation))),
    render: ({ edits }, { lines, path, tolerant }) =>
      `edited ${path}: ${edits === undefined ? "" : `${edits.length === 1 ? "1 edit" : `${edits.length} edits`}, `}` +
      `${lines.length === 1 ? "1 replacement at line" : `${lines.length} replacements at lines`} ${lines.join(", ")}` +
      (tolerant ? " (whitespace differed from old_string; new_string was indented like the file)" : ""),
    meta: (_, { after, before, observed, path }) => ({
      ...ObservedFiles.meta(observed),
      ...(before !== null && after !== null && ResultViews.diffMeta(path, before, after))
    }),
    present: {
      call: ({ edits, file_path, new_string = "", old_string = "" }) => ({
        view: "diff",
        title: `Edit ${file_path}`,
        diffs: (edits ?? [{ old_string, new_string }]).map((edit) => ({
          path: file_path,
          oldText: edit.old_string,
          newText: edit.new_string
        }))
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
