/**
 * The `str_replace_editor` tool: looking at files and folders and changing files, all in one tool with absolute paths, as models were
 * trained on it.
 */
import * as Tool from "@dsh/tools/Tool"
import * as Tools from "@dsh/tools/Tools"
import { ToolError } from "@dsh/tools/ToolError"
import { Fs } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { isAbsolute, resolve } from "node:path"
import * as FileTool from "./FileTool.ts"
import * as ObservedFiles from "./ObservedFiles.ts"
import * as Change from "./StrReplaceEditorTool/Change.ts"
import * as View from "./StrReplaceEditorTool/View.ts"

export interface Options {
  /** Of a view, in characters; what is more is cut off. Default 16 000. */
  readonly maxOutputChars?: number
  /** What the model is told of the tool, in the place of our own words. */
  readonly description?: string
}

const described = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.optionalWith(schema.annotations({ description }), FileTool.optional)

const Parameters = Schema.Struct({
  command: Schema.Literal("view", "create", "str_replace", "insert"),
  path: FileTool.FilePath.annotations({ description: "Absolute path of the file or, for view, the folder." }),
  file_text: described(Schema.String, "For create: the content of the new file."),
  old_str: described(Schema.String, "For str_replace: the text to replace, exactly as the file has it."),
  new_str: described(
    Schema.String,
    "For str_replace: what to put in its place; left out, old_str is deleted. For insert: the text."
  ),
  insert_line: described(
    Schema.Int,
    "For insert: the number of the line after which the text goes; 0 is the beginning."
  ),
  view_range: described(
    Schema.Array(Schema.Int),
    "For view of a file: the numbers of the first and the last line to show; -1 as the last is the end."
  )
})

export type Arguments = typeof Parameters.Type

const Value = Schema.Struct({
  text: Schema.String,
  observed: Schema.optionalWith(FileTool.Observed, FileTool.optional)
})

const ownDescription =
  "Looks at files and folders and changes files. view shows a file with numbered lines, or what is in a folder, two levels deep. create makes a new file and never replaces one. str_replace replaces old_str, which has to occur exactly once, whitespace and line ends included. insert puts lines after a line. A file has to have been seen before it is changed. Paths are absolute."

export const make = ({ description = ownDescription, maxOutputChars = 16_000 }: Options = {}): Tool.Tool<
  Fs | ObservedFiles.ObservedFiles
> =>
  Tool.make({
    name: "str_replace_editor",
    description,
    parameters: Parameters,
    output: Value,
    parallelSafe: ({ command }) => command === "view",
    timeout: FileTool.timeout,
    execute: (args, { cwd, session }) =>
      Effect.gen(function* () {
        const { path } = args
        if (!isAbsolute(path)) return yield* invalid(relative(path, cwd))
        const fs = yield* Fs
        const observed = yield* ObservedFiles.ObservedFiles
        const target = yield* fs.resolve(path, { cwd })
        const place = { fs, observed, session, target }
        switch (args.command) {
          case "view":
            return yield* View.view(place, args.view_range, maxOutputChars)
          case "create":
            if (args.file_text === undefined) return yield* invalid("create needs file_text")
            return yield* Change.create(place, args.file_text)
          case "str_replace":
            if (args.old_str === undefined || args.old_str === "") {
              return yield* invalid("str_replace needs an old_str that is not empty; use create or insert to add text")
            }
            return yield* Change.replace(place, args.old_str, args.new_str ?? "")
          case "insert":
            if (args.insert_line === undefined) return yield* invalid("insert needs insert_line")
            if (args.new_str === undefined) return yield* invalid("insert needs new_str")
            return yield* Change.insert(place, args.insert_line, args.new_str)
        }
      }).pipe(Effect.mapError(FileTool.failed)),
    render: (_, { text }) => text,
    meta: (_, { observed }) => (observed === undefined ? {} : ObservedFiles.meta(observed)),
    present: {
      call: ({ command, file_text, new_str = "", old_str, path }) => {
        if (command === "view") return { view: "generic", title: `View ${path}`, kind: "read", locations: [{ path }] }
        const newText = command === "create" ? (file_text ?? "") : new_str
        return {
          view: "diff",
          title: `${command === "create" ? "Write" : "Edit"} ${path}`,
          diffs: [{ path, oldText: old_str ?? null, newText }]
        }
      }
    }
  })

export const tool: Tool.Tool<Fs | ObservedFiles.ObservedFiles> = make()

type ToolLayer = Layer.Layer<never, Tools.ToolRegistrationError, Tools.Tools | Fs | ObservedFiles.ObservedFiles>

export const layer: ToolLayer = Tools.layerTool(tool)

export const layerWith = (options: Options): ToolLayer => Tools.layerTool(make(options))

const invalid = (message: string) => new ToolError({ code: "INVALID_ARGS", message })

const relative = (path: string, cwd: string): string =>
  `path is not absolute: it has to begin with /; is ${resolve(cwd, path)} meant?`
