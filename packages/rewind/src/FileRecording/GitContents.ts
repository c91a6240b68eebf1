/**
 * What git has of a workspace already need not be kept once more: a file that is as its index says has its content among its objects.
 * Read-only: no lock is taken, nothing is refreshed, nothing that the repository configures is run.
 */
import { execFile } from "node:child_process"
import { statSync } from "node:fs"
import { resolve } from "node:path"
import type { Sight } from "./Walk.ts"

/** By path, relative to the workspace: the objects of the files that are as the index says. */
export type Index = ReadonlyMap<string, IndexEntry>

export interface IndexEntry {
  readonly object: string
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly ino: number
  readonly size: number
}

const timeoutMs = 20_000
const maxBuffer = 512 * 1024 * 1024
/** So much is asked for at once. */
const batchBytes = 64 * 1024 * 1024

const safe = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]

const environment = (): NodeJS.ProcessEnv => {
  const { HOME, PATH, XDG_CONFIG_HOME } = process.env
  return {
    PATH,
    HOME,
    XDG_CONFIG_HOME,
    LC_ALL: "C",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_TERMINAL_PROMPT: "0"
  }
}

/** Undefined when it fails, for whatever reason. */
const git = (cwd: string, args: ReadonlyArray<string>, input = ""): Promise<Buffer | undefined> =>
  new Promise((done) => {
    const child = execFile(
      "git",
      [...safe, ...args],
      { cwd, env: environment(), encoding: "buffer", timeout: timeoutMs, maxBuffer },
      (error, stdout) => done(error === null ? stdout : undefined)
    )
    child.stdin?.on("error", () => {})
    child.stdin?.end(input)
  })

/** Empty where there is no repository, or no git. */
export const index = async (folder: string): Promise<Index> => {
  const [place, listing] = await Promise.all([
    git(folder, ["rev-parse", "--git-path", "index"]),
    git(folder, ["ls-files", "--stage", "--debug", "-z"])
  ])
  if (place === undefined || listing === undefined) return new Map()
  const written = statSync(resolve(folder, place.toString("utf8").trimEnd()), { throwIfNoEntry: false })
  return written === undefined ? new Map() : parse(listing.toString("utf8"), written.mtimeMs)
}

const file =
  /(100644|100755) ([0-9a-f]+) 0\t([^\0]*)\0 {2}ctime: (\d+):(\d+)\n {2}mtime: (\d+):(\d+)\n {2}dev: \d+\tino: (\d+)\n {2}uid: \d+\tgid: \d+\n {2}size: (\d+)\tflags: 0\n/g

/** @param writtenMs What was changed in the moment in which the index was written may have been changed once more. */
const parse = (listing: string, writtenMs: number): Index => {
  const entries = new Map<string, IndexEntry>()
  for (const [, , object, path, ctime, ctimeNs, mtime, mtimeNs, ino, size] of listing.matchAll(file)) {
    const mtimeMs = Number(mtime) * 1000 + Number(mtimeNs) / 1e6
    const ctimeMs = Number(ctime) * 1000 + Number(ctimeNs) / 1e6
    if (Math.max(mtimeMs, ctimeMs) >= writtenMs - 20) continue
    entries.set(path!, { object: object!, mtimeMs, ctimeMs, ino: Number(ino), size: Number(size) })
  }
  return entries
}

/** The index counts inodes in 32 bits. */
const inode = (ino: number): number => ino % 2 ** 32

export const isClean = (entry: IndexEntry, sight: Sight): boolean =>
  entry.size === sight.size &&
  entry.ino === inode(sight.ino) &&
  Math.abs(entry.mtimeMs - sight.mtimeMs) < 0.001 &&
  Math.abs(entry.ctimeMs - sight.ctimeMs) < 0.001

/** The contents of objects, as far as git still has them. */
export const read = async (
  folder: string,
  objects: ReadonlyMap<string, number>
): Promise<ReadonlyMap<string, Buffer>> => {
  const contents = new Map<string, Buffer>()
  let batch: Array<string> = []
  let bytes = 0
  const flush = async () => {
    const output = await git(folder, ["cat-file", "--batch"], batch.map((object) => `${object}\n`).join(""))
    if (output !== undefined) take(output, contents)
    batch = []
    bytes = 0
  }
  for (const [object, size] of objects) {
    batch.push(object)
    bytes += size
    if (bytes > batchBytes) await flush()
  }
  if (batch.length > 0) await flush()
  return contents
}

const take = (output: Buffer, contents: Map<string, Buffer>): void => {
  for (let at = 0; at < output.length;) {
    const end = output.indexOf(10, at)
    if (end < 0) return
    const [object = "", kind, size] = output.toString("latin1", at, end).split(" ")
    at = end + 1
    // Anything else is a line that says what is missing.
    if (kind !== "blob") continue
    contents.set(object, output.subarray(at, at + Number(size)))
    at += Number(size) + 1
  }
}
