/**
 * One look at a workspace: what is there, by path, as far as it is watched. Reads no content.
 */
import * as Fs from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import * as Rules from "./Rules.ts"

/** Of one entry. Whatever changes a file changes one of these, but for changes within a tick of the clock. */
export interface Sight {
  readonly kind: "file" | "directory" | "symlink"
  readonly mode: number
  readonly size: number
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly ino: number
  /** It was changed so shortly before it was looked at that a later change may not show. */
  readonly isFresh: boolean
}

export interface Look {
  /** Relative paths, folders before what is in them. */
  readonly sights: ReadonlyMap<string, Sight>
  readonly rules: Rules.Rules
  /** What was left out by rules, to be left out again without asking them. A folder's path ends in `/`. */
  readonly ignored: ReadonlySet<string>
}

export interface Place {
  /** Canonical. */
  readonly folder: string
  /** Below it or not, it is never looked into: the product's own. Canonical where it exists. */
  readonly home: string
  readonly maxEntries: number
}

/** How long others are kept waiting. */
const sliceMs = 8

/** Undefined when there is more than `maxEntries`. What cannot be read is as if it was not there. */
export const walk = async ({ folder, home, maxEntries }: Place, last?: Look): Promise<Look | undefined> => {
  const sights = new Map<string, Sight>()
  const ignored = new Set<string>()
  const rules = new Rules.Rules()
  rules.add("", readText(join(folder, ".git", "info", "exclude")) ?? "")
  /** With whether the same rules hold above as the last time. */
  const folders: Array<readonly [path: string, isSame: boolean]> = [["", true]]
  let began = performance.now()
  for (let current = folders.pop(); current !== undefined; current = folders.pop()) {
    const [at, isSameAbove] = current
    const entries = list(join(folder, at))
    if (entries.some(({ name }) => name === ".gitignore")) rules.add(at, readText(join(folder, at, ".gitignore")) ?? "")
    const isSame = isSameAbove && last !== undefined && rules.textOf(at) === last.rules.textOf(at)
    for (const entry of entries) {
      if (performance.now() - began > sliceMs) {
        await setImmediate()
        began = performance.now()
      }
      const path = at === "" ? entry.name : `${at}/${entry.name}`
      if (Rules.isOutside(entry.name)) continue
      const name = entry.isDirectory() ? `${path}/` : path
      const before = isSame ? last.sights.get(path) : undefined
      const isKept = before !== undefined && (before.kind === "directory") === entry.isDirectory()
      if (!isKept && ((isSame && last.ignored.has(name)) || rules.decide(name))) {
        ignored.add(name)
        continue
      }
      const absolute = `${folder}/${path}`
      if (absolute === home) continue
      const sight = look(absolute)
      if (sight === undefined) continue
      if (sights.size >= maxEntries) return undefined
      sights.set(path, sight)
      if (sight.kind === "directory") folders.push([path, isSame])
    }
  }
  return { sights, rules, ignored }
}

/** Undefined for what is gone, and for devices, pipes and sockets. */
export const look = (absolute: string): Sight | undefined => {
  const stat = Fs.lstatSync(absolute, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  const kind = stat.isFile() ? "file" : stat.isDirectory() ? "directory" : stat.isSymbolicLink() ? "symlink" : undefined
  if (kind === undefined) return undefined
  const { ctimeMs, ino, mtimeMs, size } = stat
  return { kind, mode: stat.mode & 0o7777, size, mtimeMs, ctimeMs, ino, isFresh: Date.now() - ctimeMs < tick(ctimeMs) }
}

/** Some file systems count in seconds. */
const tick = (ctimeMs: number): number => (ctimeMs % 1000 === 0 ? 2500 : 100)

export const isSame = (a: Sight, b: Sight): boolean =>
  a.kind === b.kind &&
  a.mode === b.mode &&
  (a.kind === "directory" ||
    (!a.isFresh && a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.ino === b.ino))

const list = (folder: string): ReadonlyArray<Fs.Dirent> => {
  try {
    return Fs.readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

const readText = (path: string): string | undefined => {
  try {
    return Fs.readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}
