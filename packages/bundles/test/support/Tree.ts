/**
 * A folder as a value: what is at every path, and what only untouched files keep.
 */
import { createHash } from "node:crypto"
import * as Fs from "node:fs"
import { join } from "node:path"

interface Entry {
  /** Kind, mode, and content as a hash, or where a link leads. */
  readonly is: string
  /** Anything that writes to it, or replaces it, changes this. */
  readonly identity: string
}

export type Tree = ReadonlyMap<string, Entry>

/** Everything below `folder` but what is in `skip`. */
export const of = (folder: string, skip: ReadonlyArray<string> = [".git"]): Tree => {
  const tree = new Map<string, Entry>()
  const visit = (at: string) => {
    for (const name of Fs.readdirSync(join(folder, at)).sort()) {
      const path = at === "" ? name : `${at}/${name}`
      if (skip.includes(path)) continue
      const absolute = join(folder, path)
      const stat = Fs.lstatSync(absolute, { bigint: true })
      const mode = (Number(stat.mode) & 0o7777).toString(8)
      const is = stat.isSymbolicLink()
        ? `link ${Fs.readlinkSync(absolute)}`
        : stat.isDirectory()
          ? `folder ${mode}`
          : `file ${mode} ${createHash("sha256").update(Fs.readFileSync(absolute)).digest("hex")}`
      tree.set(path, { is, identity: `${stat.ino} ${stat.mtimeNs} ${stat.ctimeNs}` })
      if (stat.isDirectory()) visit(path)
    }
  }
  visit("")
  return tree
}

export const states = (tree: Tree): Readonly<Record<string, string>> =>
  Object.fromEntries([...tree].map(([path, { is }]) => [path, is]))
