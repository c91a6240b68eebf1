/**
 * A tree of files, folders and symbolic links in memory. Paths are absolute, with `/` between names.
 */
import * as Either from "effect/Either"
import { FsError } from "../Fs.ts"

interface File {
  readonly type: "file"
  readonly bytes: Uint8Array
}

interface Folder {
  readonly type: "directory"
  readonly entries: Map<string, Entry>
}

interface SymbolicLink {
  readonly type: "symlink"
  readonly destination: string
}

type Found = File | Folder

type Entry = Found | SymbolicLink

// As many as Linux follows.
const maxLinks = 40

/**
 * What is stored. It outlives the services over it, like a disk, and programs of tests may look into it. What it begins with, `makeFolder`
 * and `makeLink` go by the path as it is written, through no links.
 */
export class MemoryFiles {
  readonly #root: Folder = folder()

  /** With these files to begin with, by their paths. */
  constructor(files: Readonly<Record<string, string | Uint8Array>> = {}) {
    for (const [path, content] of Object.entries(files)) {
      this.#set(namesOf(path), fileOf(typeof content === "string" ? new TextEncoder().encode(content) : content))
    }
  }

  /** Makes a folder and those that it is in. */
  makeFolder(path: string): void {
    this.#folderAt(namesOf(path))
  }

  /** Makes a symbolic link, and the folders that it is in. */
  makeLink(destination: string, path: string): void {
    this.#set(namesOf(path), { type: "symlink", destination })
  }

  /** Puts a file at the place that `path` leads to, and makes the folders that it is in. Fails as `canonical` does. */
  put(path: string, bytes: Uint8Array): Either.Either<void, FsError> {
    return Either.map(this.#walk(path), ({ names }) => this.#set(names, fileOf(bytes)))
  }

  /** What is at the place that `path` leads to. Fails as `canonical` does. */
  find(path: string): Either.Either<Found | undefined, FsError> {
    return Either.map(this.#walk(path), ({ node }) => node)
  }

  /** The path without links, `.` and `..`; what is missing is taken as it is written. Fails where it leads nowhere. */
  canonical(path: string): Either.Either<string, FsError> {
    return Either.map(this.#walk(path), ({ names }) => `/${names.join("/")}`)
  }

  #walk(path: string) {
    const fail = (code: "FS_NOT_DIRECTORY" | "FS_IO_ERROR", text: string) =>
      Either.left(new FsError({ code, message: `${path} ${text}` }))
    if (path.includes("\0")) return fail("FS_IO_ERROR", "contains a NUL byte")
    const ahead = path.split("/").reverse()
    let nodes: Array<Found | undefined> = [this.#root]
    let names: Array<string> = []
    let links = 0
    for (let name = ahead.pop(); name !== undefined; name = ahead.pop()) {
      if (name === "") continue
      const here = nodes.at(-1)
      if (here?.type === "file") return fail("FS_NOT_DIRECTORY", "leads through something that is not a directory")
      if (name === ".") continue
      if (name === "..") {
        names.pop()
        if (nodes.length > 1) nodes.pop()
        continue
      }
      const next = here?.entries.get(name)
      if (next?.type !== "symlink") {
        names.push(name)
        nodes.push(next)
        continue
      }
      if (++links > maxLinks) return fail("FS_IO_ERROR", "is a symbolic link that leads in a circle")
      ahead.push(...next.destination.split("/").reverse())
      if (next.destination.startsWith("/")) [names, nodes] = [[], [this.#root]]
    }
    return Either.right({ names, node: nodes.at(-1) })
  }

  #set(names: ReadonlyArray<string>, entry: Entry): void {
    const name = names.at(-1)
    if (name !== undefined) this.#folderAt(names.slice(0, -1)).entries.set(name, entry)
  }

  #folderAt(names: ReadonlyArray<string>): Folder {
    let here = this.#root
    for (const name of names) {
      const found = here.entries.get(name)
      const next = found?.type === "directory" ? found : folder()
      here.entries.set(name, next)
      here = next
    }
    return here
  }
}

/** A copy, for whoever gives bytes may use them again. */
const fileOf = (bytes: Uint8Array): File => ({ type: "file", bytes: Uint8Array.from(bytes) })

const folder = (): Folder => ({ type: "directory", entries: new Map() })

const namesOf = (path: string): ReadonlyArray<string> => path.split("/").filter((name) => name !== "")
