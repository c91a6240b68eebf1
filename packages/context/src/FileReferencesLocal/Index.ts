/**
 * The files and folders of a workspace, those near the top first, as many as an index may hold.
 */
import { Fs } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import type { Candidate } from "../FileReferences.ts"

export interface Bounds {
  readonly excluded: ReadonlySet<string>
  readonly maxEntries: number
}

export const build = Effect.fnUntraced(function* (
  workspace: string,
  { excluded, maxEntries }: Bounds
): Effect.fn.Return<ReadonlyArray<Candidate>, never, Fs> {
  const found: Array<Candidate> = []
  for (let level = [""]; level.length > 0 && found.length < maxEntries;) {
    const inside = yield* Effect.forEach(level, (folder) => children(workspace, folder, excluded), { concurrency: 8 })
    found.push(...inside.flat())
    level = inside.flat().flatMap(({ path, type }) => (type === "directory" ? [path] : []))
  }
  return found.slice(0, maxEntries)
})

/** What is in `folder`, which starts at the workspace and ends with a slash unless it is empty. Links are not followed. */
export const children = Effect.fnUntraced(function* (
  workspace: string,
  folder: string,
  excluded: ReadonlySet<string>
): Effect.fn.Return<ReadonlyArray<Candidate>, never, Fs> {
  const fs = yield* Fs
  const entries = yield* fs.resolve(folder === "" ? "." : folder, { cwd: workspace }).pipe(
    Effect.flatMap(fs.listDir),
    // It may be gone, or be none of ours: nothing of it can be meant then.
    Effect.orElseSucceed(() => [])
  )
  return entries.flatMap(({ name, type }): ReadonlyArray<Candidate> => {
    if (excluded.has(name)) return []
    return type === "directory"
      ? [{ path: `${folder}${name}/`, type }]
      : type === "file" || type === "symlink"
        ? [{ path: folder + name, type: "file" }]
        : []
  })
})
