/**
 * `FileReferences` from an index of the workspace that is made when somebody asks, and made anew when tools may have changed it.
 */
import { ToolResult } from "@dsh/tools/ToolHooks"
import { Fs } from "@dsh/world/Fs"
import * as Cache from "effect/Cache"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { FileReferences } from "./FileReferences.ts"
import type { Candidate } from "./FileReferences.ts"
import * as Index from "./FileReferencesLocal/Index.ts"

export interface Options {
  /** Default 20. */
  readonly maxResults?: number
  /** Files and folders that are looked at. Default 10000. */
  readonly maxEntries?: number
  /** Names that are left out wherever they are. Default `.git` and `node_modules`. */
  readonly exclude?: ReadonlyArray<string>
}

/** Below it, letters of a query are scattered over a path by chance. Between 0, anything, and 1, the very same. */
const threshold = 0.3

export const make = ({ exclude = [".git", "node_modules"], maxEntries = 10_000, maxResults = 20 }: Options = {}) =>
  Effect.gen(function* () {
    const fs = yield* Fs
    const results = yield* ToolResult
    const excluded = new Set(exclude)
    // A few people may look over one process's shoulder; a handful of workspaces is plenty.
    const indexes = yield* Cache.make({
      capacity: 8,
      timeToLive: Duration.infinity,
      lookup: (workspace: string) => Effect.provideService(Index.build(workspace, { excluded, maxEntries }), Fs, fs)
    })
    yield* results.use("file references", () => indexes.invalidateAll)
    const fuzzy = yield* Effect.cached(Effect.promise(() => import("fuzzysort")))

    const rank = (query: string, folder: string, candidates: ReadonlyArray<Candidate>) =>
      query === ""
        ? Effect.succeed(candidates.slice(0, maxResults))
        : Effect.map(fuzzy, ({ default: sort }) => {
            const key = ({ path }: Candidate) => path.slice(folder.length)
            return sort.go(query, candidates, { key, limit: maxResults, threshold }).map(({ obj }) => obj)
          })

    return FileReferences.of({
      complete: (query, workspace) => {
        const slash = query.lastIndexOf("/") + 1
        if (slash === 0 && query !== "") return Effect.flatMap(indexes.get(workspace), (all) => rank(query, "", all))
        const folder = query.slice(0, slash)
        return Index.children(workspace, folder, excluded).pipe(
          Effect.flatMap((inside) => rank(query.slice(slash), folder, inside)),
          Effect.provideService(Fs, fs)
        )
      }
    })
  })

export const layer = (options?: Options): Layer.Layer<FileReferences, never, Fs | ToolResult> =>
  Layer.scoped(FileReferences, make(options))
