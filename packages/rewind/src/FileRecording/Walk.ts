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
export const walk = async ({ folder, home, maxEntries }: Place): Promise<Look | undefined> => {
  const sights = new Map<string, Sight>()
  const rules = new Rules.Rules()
  const exclude = readText(join(folder, ".git", "info", "exclude"))
  if (exclude !== undefined) rules.add("", exclude)
  const folders = [""]
  let began = performance.now()
  for (let current = folders.pop(); current !== undefined; current = folders.pop()) {
    const entries = list(join(folder, current))
    if (entries.some(({ name }) => name === ".gitignore")) {
      const text = readText(join(folder, current, ".gitignore"))
      if (text !== undefined) rules.add(current, text)
    }
    for (const entry of entries) {
      const path = current === "" ? entry.name : `${current}/${entry.name}`
      const isFolder = entry.isDirectory()
      if (Rules.isOutside(entry.name) || rules.decide(isFolder ? `${path}/` : path)) continue
      const absolute = join(folder, path)
      if (absolute === home) continue
      const sight = look(absolute)
      if (sight === undefined) continue
      if (sights.size >= maxEntries) return undefined
      sights.set(path, sight)
      if (sight.kind === "directory") folders.push(path)
      if (performance.now() - began > sliceMs) {
        await setImmediate()
        began = performance.now()
      }
    }
  }
  return { sights, rules }
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
