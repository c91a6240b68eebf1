/**
 * The `glob` tool: files by their names.
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
import * as ResultViews from "./ResultViews.ts"
import * as Ripgrep from "./Ripgrep.ts"
import * as SearchList from "./SearchList.ts"
import * as SearchPlace from "./SearchPlace.ts"

export interface Options extends Ripgrep.Options {
  /** Paths that are shown. Default 100. */
  readonly maxPaths?: number
  /** By the time of their last change. Default `oldest` first. */
  readonly order?: "oldest" | "newest"
}

const Parameters = Schema.Struct({
  pattern: SearchPlace.Place.annotations({
    description:
      "Which files: *.ts finds such names everywhere, src/**/*.ts such paths from the folder that is searched. Alternatives go in braces: *.{ts,tsx}."
  }),
  path: Schema.optionalWith(
    SearchPlace.Place.annotations({
      description: "The folder to search; a relative one starts at the workspace folder. Default: that."
    }),
    FileTool.optional
  )
})

const Value = Schema.Struct({ root: Schema.String, paths: Schema.Array(Schema.String), ...SearchList.Completeness })

const section = {
  name: "glob",
  order: 103,
  text: "Find files by name with the glob tool, not with find or ls."
}

const none = "No files found"
const narrow = "narrow the pattern or pass a folder as path"

export const make = (options: Options = {}): Tool.Tool<Fs | Subprocess> => {
  const { maxPaths = 100, order = "oldest", timeoutMs = Ripgrep.defaultTimeoutMs } = options
  return Tool.make({
    name: "glob",
    description: `Lists files whose names match a pattern, one path per line, those that were changed ${order === "oldest" ? "longest ago" : "last"} first. Hidden files are listed; folders, ignored files (.gitignore) and what is in .git are not. At most ${maxPaths} paths are shown: the end of the result says where the whole list is.`,
    parameters: Parameters,
    output: Value,
    parallelSafe: true,
    // The search has a deadline itself, and gives what it found by then. This is for a file system that does not answer.
    timeout: timeoutMs + 10_000,
    execute: ({ path, pattern }, context) =>
      Effect.gen(function* () {
        const place = yield* SearchPlace.of(path, context.cwd, "folder")
        const glob = yield* GlobPattern.parse(pattern, place.root)
        const { paths, ...ended } = yield* list(place, glob, order, { ...options, timeoutMs })
        const saved = paths.length > maxPaths ? yield* SearchList.save(context, "glob", `${paths.join("\n")}\n`) : {}
        return { root: place.root, paths, ...ended, ...saved }
      }),
    render: (_, { paths, ...complete }) => {
      const shown = paths.slice(0, maxPaths)
      const page = shown.length === 0 ? none : shown.join("\n")
      return page + SearchList.notes(shown.length, paths.length, "files", complete, narrow)
    },
    meta: (_, { isPartial, paths }) => ({
      search: ResultViews.searchMeta({
        found: paths.slice(0, maxPaths).map((path) => ({ path })),
        total: paths.length,
        isPartial
      })
    }),
    present: {
      call: ({ path, pattern }) => ({
        view: "generic",
        title: `Find ${pattern}${path === undefined ? "" : ` in ${path}`}`,
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

interface Limits extends Ripgrep.Options {
  readonly timeoutMs: number
}

/**
 * Sorting, ripgrep prints nothing before it has seen everything. Where that takes too long, some files in no order are worth more than
 * none: the last third of the time is for them.
 */
const list = (
  { root, show, target }: SearchPlace.SearchPlace,
  { args, matches }: GlobPattern.GlobPattern,
  order: "oldest" | "newest",
  { program, rawOutputMaxBytes = Ripgrep.defaultMaxBytes, timeoutMs }: Limits
) => {
  const search = (sort: ReadonlyArray<string>, deadlineMs: number) =>
    Effect.suspend(() => {
      const paths: Array<string> = []
      return Effect.map(
        Ripgrep.run({
          args: ["--files", "--null", ...sort, ...args, "--", target],
          cwd: root,
          separator: Ripgrep.nul,
          take: ({ bytes }) => {
            const path = bytes.toString("utf8").replace(/^\.\//, "")
            if (matches(path)) paths.push(show(path))
          },
          deadlineMs,
          maxBytes: rawOutputMaxBytes,
          program
        }),
        (ended) => ({ ...ended, paths })
      )
    })
  const sorted = search([order === "oldest" ? "--sort=modified" : "--sortr=modified"], Math.ceil((timeoutMs * 2) / 3))
  return Effect.flatMap(sorted, (found) =>
    found.isPartial && found.paths.length === 0
      ? Effect.map(search([], Math.ceil(timeoutMs / 3)), (some) => ({ ...some, isPartial: true }))
      : Effect.succeed(found)
  )
}
