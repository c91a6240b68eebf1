/**
 * The `grep` tool: lines of files that match a regular expression.
 */
import * as GuidedTool from "@dsh/prompt/GuidedTool"
import type { PromptError, SystemPrompt } from "@dsh/prompt/SystemPrompt"
import * as Tool from "@dsh/tools/Tool"
import type { ToolRegistrationError, Tools } from "@dsh/tools/Tools"
import type { Fs } from "@dsh/world/Fs"
import type { Subprocess } from "@dsh/world/Subprocess"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as FileTool from "./FileTool.ts"
import * as GlobPattern from "./GlobPattern.ts"
import * as Found from "./GrepTool/Found.ts"
import * as Search from "./GrepTool/Search.ts"
import * as ResultViews from "./ResultViews.ts"
import * as Ripgrep from "./Ripgrep.ts"
import * as SearchList from "./SearchList.ts"
import * as SearchPlace from "./SearchPlace.ts"

export interface Options extends Ripgrep.Options {
  /** Matches, or files, that are shown. Default 250. */
  readonly maxMatches?: number
  /** Of a line, in bytes. Default 2000. */
  readonly maxLineBytes?: number
}

const kinds = ["matches", "files", "count"] as const

const Context = Schema.Int.pipe(Schema.between(0, 10, { message: () => "must be a whole number from 0 to 10" }))

const described = <A>(schema: Schema.Schema<A, A>, description: string) =>
  Schema.optionalWith(schema.annotations({ description }), FileTool.optional)

const Parameters = Schema.Struct({
  pattern: Schema.NonEmptyString.annotations({
    description: "A regular expression, as Rust has them: no look-around and no back-references."
  }),
  path: described(
    SearchPlace.Place,
    "The folder or file to search; a relative one starts at the workspace folder. Default: that folder."
  ),
  include: described(
    SearchPlace.Place,
    "Only files like this, as the pattern of glob has it: *.ts or src/**/*.{ts,tsx}."
  ),
  ignore_case: described(Schema.Boolean, "Take upper and lower case for the same."),
  context: described(Context, "How many lines to show before and after each match, up to 10."),
  output: described(
    Schema.Literal(...kinds),
    "matches, the default: the lines; files: only the paths; count: how many lines match in each file."
  ),
  multiline: described(Schema.Boolean, "Let matches go over the ends of lines, which . matches, too.")
})

type Arguments = typeof Parameters.Type

const Value = Schema.Struct({
  root: Schema.String,
  output: Schema.Literal(...kinds),
  /** With neighbours, if they were asked for; only of output `matches`. */
  matches: Schema.Array(
    Schema.Struct({
      path: Schema.String,
      lineNumber: Schema.Number,
      line: Schema.String,
      context: Schema.optionalWith(Schema.Boolean, FileTool.optional)
    })
  ),
  /** Of the other outputs. */
  files: Schema.Array(
    Schema.Struct({ path: Schema.String, count: Schema.optionalWith(Schema.Number, FileTool.optional) })
  ),
  ...SearchList.Completeness
})

type Value = typeof Value.Type

const section = {
  name: "grep",
  order: 104,
  text: "Search in files with the grep tool, not with grep or rg in bash."
}

const narrow = "narrow the pattern, or pass path or include"

export const make = (options: Options = {}): Tool.Tool<Fs | Subprocess> => {
  const { maxLineBytes = 2000, maxMatches = 250, timeoutMs = Ripgrep.defaultTimeoutMs } = options

  const shown = (value: Value) => ({
    lines: Found.upTo(value.matches, maxMatches),
    files: value.files.slice(0, maxMatches),
    total: Found.matchesIn(value.matches) + value.files.length
  })

  return Tool.make({
    name: "grep",
    description: `Searches the contents of files with ripgrep. The result is, for each file with matches, its path and then "Line number: text". Hidden files are searched; ignored files (.gitignore), binary files and what is in .git are not. At most ${maxMatches} matches are shown: the end of the result says where all of them are. Lines longer than ${maxLineBytes} bytes are cut around the match.`,
    parameters: Parameters,
    output: Value,
    parallelSafe: true,
    // As with glob: what stops a search in time is the search itself.
    timeout: timeoutMs + 10_000,
    execute: (args, context) =>
      Effect.gen(function* () {
        const place = yield* SearchPlace.of(args.path, context.cwd, "any")
        const include = args.include === undefined ? undefined : yield* GlobPattern.parse(args.include, place.root)
        const wanted = wantedOf(args, place, include)
        const found = yield* Search.search(wanted, { ...options, maxLineBytes, timeoutMs })
        const value: Value = { root: place.root, output: wanted.output, ...found }
        const isOver = Found.matchesIn(value.matches) + value.files.length > maxMatches
        return isOver ? { ...value, ...(yield* SearchList.save(context, "grep", `${whole(value)}\n`)) } : value
      }),
    render: (_, value) => {
      const { files, lines, total } = shown(value)
      const what = value.output === "matches" ? "matches" : "files"
      const count = value.output === "matches" ? Found.matchesIn(lines) : files.length
      const page =
        total === 0 ? "No matches found" : `${header(value)}\n\n${Found.text(lines)}${Found.countText(files)}`
      return page + SearchList.notes(count, total, what, value, narrow)
    },
    meta: (_, value) => {
      const { files, lines, total } = shown(value)
      const found = value.output === "matches" ? lines.filter(({ context }) => context !== true) : files
      return { search: ResultViews.searchMeta({ found, total, isPartial: value.isPartial }) }
    },
    present: {
      call: ({ path, pattern }) => ({
        view: "generic",
        title: `Search ${pattern}${path === undefined ? "" : ` in ${path}`}`,
        kind: "search"
      }),
      result: ({ isError, meta }) => (isError ? undefined : ResultViews.search(meta))
    }
  })
}

type ToolLayer = Layer.Layer<never, ToolRegistrationError | PromptError, Tools | SystemPrompt | Fs | Subprocess>

export const layer: ToolLayer = GuidedTool.layer(make(), section)

/** With other limits than the usual ones. */
export const layerWith = (options: Options): ToolLayer => GuidedTool.layer(make(options), section)

const wantedOf = (
  { context = 0, ignore_case = false, multiline = false, output = "matches", pattern }: Arguments,
  place: SearchPlace.SearchPlace,
  include: GlobPattern.GlobPattern | undefined
): Search.Wanted => ({ pattern, output, ignoreCase: ignore_case, multiline, context, place, include })

const header = ({ files, matches, output }: Value): string => {
  const lines = output === "count" ? files.reduce((sum, { count = 0 }) => sum + count, 0) : Found.matchesIn(matches)
  const inFiles = files.length === 1 ? "1 file" : `${files.length} files`
  if (output === "files") return `Found ${inFiles}`
  const found = `Found ${lines === 1 ? "1 match" : `${lines} matches`}`
  return output === "count" ? `${found} in ${inFiles}` : found
}

const whole = (value: Value): string =>
  `${header(value)}\n\n${Found.text(value.matches)}${Found.countText(value.files)}`
