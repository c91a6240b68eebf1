/**
 * Where instruction files are looked for: the home folder, and the folders between a project's root and where somebody works.
 */
import { CurrentConfinement } from "@dsh/world/Confinement"
import { Fs } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import { posix } from "node:path"

/** What a folder says to everybody, and what only this user adds; later names are more specific. */
const names = ["AGENTS.md", "CLAUDE.md", "AGENTS.local.md", "CLAUDE.local.md"]
const homeNames = ["AGENTS.md"]

export interface Folder {
  readonly path: string
  readonly names: ReadonlyArray<string>
}

export interface Place {
  readonly home: Folder | undefined
  /** The folder the session works in, and the nearest one above it that holds a `.git`, else itself. Canonical. */
  readonly cwd: string
  readonly root: string
}

export const find = Effect.fnUntraced(function* (
  folder: string,
  home: string | undefined
): Effect.fn.Return<Place, never, Fs> {
  const fs = yield* Fs
  const held = yield* CurrentConfinement
  const cwd =
    held?.workspace ??
    (yield* Effect.match(fs.resolve(folder, { cwd: "/" }), {
      onSuccess: ({ targetKey }) => targetKey,
      // It is no place of this world; nothing will be found there either.
      onFailure: () => folder
    }))
  const isMarked = (path: string) => {
    const marker = posix.join(path, ".git")
    return Effect.match(fs.stat({ targetKey: marker, displayPath: marker }), {
      onSuccess: (stat) => stat !== undefined,
      onFailure: () => false
    })
  }
  const above = chain("/", cwd).toReversed()
  const marks: Array<boolean> = []
  for (const path of above) {
    marks.push(yield* isMarked(path))
    if (marks.at(-1) === true) break
  }
  return {
    home: home === undefined ? undefined : { path: home, names: homeNames },
    cwd,
    root: above[marks.indexOf(true)] ?? cwd
  }
})

/** From the general to the specific: those of every session here, then those of the files that were touched. */
export const folders = ({ cwd, home, root }: Place, touched: Iterable<string>): ReadonlyArray<Folder> => {
  const paths = new Set(chain(root, cwd))
  const nested = new Set<string>()
  for (const file of touched) {
    for (const path of chain(root, folderOf(file))) if (!paths.has(path)) nested.add(path)
  }
  const inProject = [...paths, ...[...nested].sort()].map((path) => ({ path, names }))
  return home === undefined || paths.has(home.path) ? inProject : [home, ...inProject]
}

export const folderOf = (file: string): string => posix.dirname(file)

export const isInstruction = (file: string): boolean => names.includes(posix.basename(file))

/** `root` and every folder below it down to `folder`; nothing when that is elsewhere. */
const chain = (root: string, folder: string): ReadonlyArray<string> => {
  const below = posix.relative(root, folder)
  if (below === "") return [root]
  if (below === ".." || below.startsWith("../")) return []
  const path = [root]
  for (const part of below.split("/")) path.push(posix.join(path.at(-1)!, part))
  return path
}
