/**
 * The `read` tool: a window of lines of a text file.
 */
import * as GuidedTool from "@dsh/prompt/GuidedTool"
import type { PromptError, SystemPrompt } from "@dsh/prompt/SystemPrompt"
import * as Tool from "@dsh/tools/Tool"
import type { ToolRegistrationError, Tools } from "@dsh/tools/Tools"
import * as ContentVersion from "@dsh/world/ContentVersion"
import { Fs, FsError } from "@dsh/world/Fs"
import type { FsTarget } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as FileRegion from "./FileRegion.ts"
import * as FileTool from "./FileTool.ts"
import * as NameHint from "./NameHint.ts"
import * as ObservedFiles from "./ObservedFiles.ts"
import * as Decoding from "./ReadTool/Decoding.ts"
import * as LineWindow from "./ReadTool/LineWindow.ts"
import * as ReadText from "./ReadTool/ReadText.ts"
import * as ResultViews from "./ResultViews.ts"

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
  encoding: Schema.Literal("utf-8", "utf-16le", "utf-16be", "unknown"),
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
        const { encoding, version, window } = yield* Effect.catchAll(scan(fs, target, limits), (error) =>
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
          encoding: window.invalid ? ("unknown" as const) : encoding,
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

interface Scan {
  readonly window: LineWindow.Window
  readonly encoding: Decoding.Decoding["encoding"]
  readonly version: ContentVersion.ContentVersion
}

// One pass over the whole file, because the version is that of the whole file, and so is the number of lines.
const scan = Effect.fnUntraced(function* (
  fs: Fs["Type"],
  target: FsTarget,
  limits: LineWindow.Limits
): Effect.fn.Return<Scan, FsError> {
  const hasher = ContentVersion.hasher()
  const window = LineWindow.make(limits)
  let decoding: Decoding.Decoding | undefined
  yield* Stream.runForEach(fs.streamBytes(target), (bytes) => {
    if (decoding === undefined) {
      const opened = Decoding.of(bytes)
      if (Either.isLeft(opened)) return Effect.fail(FileTool.notText(target, opened.left))
      decoding = opened.right
    }
    hasher.update(bytes)
    window.push(decoding.decode(bytes))
    return Effect.void
  })
  if (decoding !== undefined) window.push(decoding.end())
  return { window: window.end(), encoding: decoding?.encoding ?? "utf-8", version: hasher.digest() }
})

const missing = (fs: Fs["Type"], target: FsTarget, { code, message, cause }: FsError): Effect.Effect<never, FsError> =>
  Effect.flatMap(NameHint.of(fs, target), (hint) => new FsError({ code, message: message + hint, cause }))

const beyond = ({ displayPath }: FsTarget, offset: number, totalLines: number): FsError =>
  new FsError({
    code: "FS_NOT_FOUND",
    message: `${displayPath} has ${FileRegion.lineCount(totalLines)}; there is no line ${offset}`
  })
