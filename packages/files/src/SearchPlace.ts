/**
 * Where a search looks, and what the files it finds are called: by their path from the workspace folder when they are in it.
 */
import { ToolError } from "@dsh/tools/ToolError"
import { isWithin } from "@dsh/world/Confinement"
import { Fs } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { basename, dirname, join, relative, resolve } from "node:path"
import * as FileTool from "./FileTool.ts"
import * as NameHint from "./NameHint.ts"
import { internals } from "./Ripgrep.ts"

export interface SearchPlace {
  /** The folder that the search starts in and that patterns are relative to; absolute. */
  readonly root: string
  /** What is searched, seen from `root`: all of it, or one file. */
  readonly target: string
  /** How to show a path that was found, seen from `root`. */
  readonly show: (found: string) => string
}

export const Place = Schema.String.pipe(Schema.pattern(/\S/, { message: () => "must not be blank" }))

/** Fails with `SEARCH_FAILED` where nothing can be searched, and as `Fs` does where nothing may be looked at. */
export const of = Effect.fnUntraced(function* (
  path: string | undefined,
  workspace: string,
  wanted: "folder" | "any"
): Effect.fn.Return<SearchPlace, ToolError, Fs> {
  const fs = yield* Fs
  const cwd = resolve(workspace)
  const target = yield* Effect.mapError(fs.resolve(path ?? ".", { cwd }), FileTool.failed)
  const stat = yield* Effect.mapError(fs.stat(target), FileTool.failed)
  const place = target.displayPath
  if (stat === undefined) return yield* failed(`${place} does not exist${yield* NameHint.of(fs, target)}`)
  const isFolder = stat.type === "directory"
  if (!isFolder && wanted === "folder") {
    return yield* failed(`${place} is no folder; pass the folder it is in, and its name as pattern`)
  }
  const internal = (isWithin(place, cwd) ? relative(cwd, place) : place).split("/").find((it) => internals.includes(it))
  if (internal !== undefined) {
    return yield* failed(`${place} belongs to version control, which is not searched; ask the program it belongs to`)
  }
  const root = isFolder ? place : dirname(place)
  return {
    root,
    target: isFolder ? "./" : `./${basename(place)}`,
    show: (found) => {
      const absolute = join(root, found)
      return isWithin(absolute, cwd) ? relative(cwd, absolute) : absolute
    }
  }
})

const failed = (message: string): ToolError => new ToolError({ code: "SEARCH_FAILED", message })
