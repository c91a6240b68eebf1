/**
 * The `read` tool: a window of lines of a text file.
 */
import * as GuidedTool from "@dsh/prompt/GuidedTool"
import type { PromptError, SystemPrompt } from "@dsh/prompt/SystemPrompt"
import * as Tool from "@dsh/tools/Tool"
import type { ToolRegistrationError, Tools } from "@dsh/tools/Tools"
import { Fs, FsError } from "@dsh/world/Fs"
import type { FsTarget } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as FileRegion from "./FileRegion.ts"
import * as FileTool from "./FileTool.ts"
import * as NameHint from "./NameHint.ts"
import * as ObservedFiles from "./ObservedFiles.ts"
import * as ReadText from "./ReadTool/ReadText.ts"
import * as Scan from "./ReadTool/Scan.ts"
import * as ResultViews from "./ResultViews.ts"
import { encodings } from "./TextFile.ts"

export interface Options {
  /** Lines per call at most, and without a `limit`. Default 2000. */
  readonly readLimit?: number
  /** Characters of a line. Default 2000. */
  readonly readMaxLineLength?: number
  /** Bytes of text per call. Default 51 200. */
  readonly readMaxBytes?: number
}

const Count = Schema.Int.pipe(Schema.positive({ message: () => "must be a whole number from 1" }))

const Parameters = Schema.Struct({
  file_path: FileTool.FilePath,
  offset: Schema.optionalWith(Count.annotations({ description: "First line to show, from 1." }), FileTool.optional),
  limit: Schema.optionalWith(Count.annotations({ description: "How many lines to show." }), FileTool.optional)
})

const Value = Schema.Struct({
  path: Schema.String,
  offset: Schema.Number,
  lines: Schema.Array(Schema.Struct({ number: Schema.Number, text: Schema.String })),
  totalLines: Schema.Number,
  encoding: Schema.Literal(...encodings),
  cutAtBytes: Schema.optionalWith(Schema.Number, FileTool.optional),
  observed: FileTool.Observed
})

const section = {
  name: "read",
  order: 100,
  text: "Look at files with the read tool, not with cat, head or sed, and read a file before you change it."
}

export const make = (options: Options = {}): Tool.Tool<Fs | ObservedFiles.ObservedFiles> => {
  const { readLimit = 2000, readMaxBytes = 51_200, readMaxLineLength = 2000 } = options
  return Tool.make({
    name: "read",
    description: `Shows the lines of a text file, each as "number: text". At most ${readLimit} lines and ${readMaxBytes} bytes per call: the end of the result says which lines were shown and with which offset to go on. Lines longer than ${readMaxLineLength} characters are cut. The number and the colon are not part of the file.`,
    parameters: Parameters,
    output: Value,
    parallelSafe: true,
    timeout: FileTool.timeout,
    execute: ({ file_path, limit = readLimit, offset = 1 }, { cwd, session }) =>
      Effect.gen(function* () {
        const fs = yield* Fs
        const observed = yield* ObservedFiles.ObservedFiles
        const target = yield* fs.resolve(file_path, { cwd })
        const limits = {
          offset,
          limit: Math.min(limit, readLimit),
          maxBytes: readMaxBytes,
          maxLineLength: readMaxLineLength
        }
        const { encoding, version, window } = yield* Effect.catchAll(Scan.scan(fs, target, limits), (error) =>
          error.code === "FS_NOT_FOUND"
            ? Effect.zipRight(observed.record(session, target.targetKey, "absent"), missing(fs, target, error))
            : error
        )
        if (offset > Math.max(1, window.totalLines)) return yield* beyond(target, offset, window.totalLines)
        yield* observed.record(session, target.targetKey, { version })
        return {
          path: target.displayPath,
          offset,
          lines: window.lines,
          totalLines: window.totalLines,
          encoding,
          ...(window.full && { cutAtBytes: readMaxBytes }),
          observed: { key: target.targetKey, version }
        }
      }).pipe(Effect.mapError(FileTool.failed)),
    render: (_, value) => ReadText.render(value),
    meta: (_, { lines, observed, offset, path, totalLines }) => ({
      ...ObservedFiles.meta(observed),
      read: { path, offset, lines: lines.length, totalLines }
    }),
    present: {
      call: ({ file_path, offset }) => ({
        view: "generic",
        title: `Read ${file_path}`,
        kind: "read",
        locations: [{ path: file_path, ...(offset !== undefined && { line: offset }) }]
      }),
      result: ({ isError, meta }) => (isError ? undefined : ResultViews.read(meta))
    }
  })
}

export const tool: Tool.Tool<Fs | ObservedFiles.ObservedFiles> = make()

type ToolLayer = Layer.Layer<
  never,
  ToolRegistrationError | PromptError,
  Tools | SystemPrompt | Fs | ObservedFiles.ObservedFiles
>

export const layer: ToolLayer = GuidedTool.layer(tool, section)

/** With other limits than the usual ones. */
export const layerWith = (options: Options): ToolLayer => GuidedTool.layer(make(options), section)

const missing = (fs: Fs["Type"], target: FsTarget, { code, message, cause }: FsError): Effect.Effect<never, FsError> =>
  Effect.flatMap(NameHint.of(fs, target), (hint) => new FsError({ code, message: message + hint, cause }))

const beyond = ({ displayPath }: FsTarget, offset: number, totalLines: number): FsError =>
  new FsError({
    code: "FS_NOT_FOUND",
    message: `${displayPath} has ${FileRegion.lineCount(totalLines)}; there is no line ${offset}`
  })
