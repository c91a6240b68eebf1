/**
 * What is known of a workspace: every watched path with its stat and its content, so that the next look finds what is different.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import type { FileChange, FileState } from "../FileChange.ts"
import * as FileStates from "../FileStates.ts"
import type { Snapshots } from "../Snapshots.ts"
import * as GitContents from "./GitContents.ts"
import * as Rules from "./Rules.ts"
import * as Walk from "./Walk.ts"

export interface Options extends Walk.Place {
  readonly snapshots: Snapshots
  /** How much of a workspace is kept before its first command, in bytes. */
  readonly maxFirstBytes: number
}

/** A content that is among the objects of git, and is asked for when it is needed. */
interface InGit {
  readonly kind: "git"
  readonly object: string
}

interface Entry {
  readonly sight: Walk.Sight
  readonly state: FileState | InGit
}

const sliceMs = 8

export class Known {
  readonly #options: Options
  #entries: Map<string, Entry> | undefined
  #last: Walk.Look | undefined
  #room: number

  constructor(options: Options) {
    this.#options = options
    this.#room = options.maxFirstBytes
  }

  /** Nobody has looked yet. */
  get isEmpty(): boolean {
    return this.#entries === undefined
  }

  /** What is different from the last look, in the order of paths. Undefined when there is too much to look at. */
  async look(): Promise<ReadonlyArray<FileChange> | undefined> {
    const last = this.#last
    const found = await Walk.walk(this.#options, last)
    if (found === undefined) return undefined
    const old = this.#entries ?? new Map<string, Entry>()
    const index = this.#entries === undefined ? await GitContents.index(this.#options.folder) : undefined
    const entries = new Map<string, Entry>()
    const different: Array<readonly [path: string, sight: Walk.Sight | undefined, before: Entry | undefined]> = []
    for (const [path, sight] of found.sights) {
      const before = old.get(path)
      if (before !== undefined && Walk.isSame(before.sight, sight)) entries.set(path, before)
      else different.push([path, sight, before])
    }
    for (const [path, before] of old) if (!found.sights.has(path)) different.push([path, undefined, before])

    const git = await this.#resolved(different.flatMap(([, , before]) => before ?? []))
    const changes: Array<FileChange> = []
    let began = performance.now()
    for (const [path, sight, before] of different) {
      if (performance.now() - began > sliceMs) {
        await setImmediate()
        began = performance.now()
      }
      if (before !== undefined && sight !== undefined && git.isStill(path, before, sight)) {
        entries.set(path, { sight, state: before.state })
        continue
      }
      const was = before === undefined ? FileStates.absent : git.stateOf(before)
      if (sight === undefined) {
        // What is ignored from now on is still there.
        const after = FileStates.of(join(this.#options.folder, path))
        if (after.kind === "absent") changes.push({ path, before: was, after })
        continue
      }
      const indexed = Rules.isSecret(path) ? undefined : index?.get(path)
      if (indexed !== undefined && GitContents.isClean(indexed, sight)) {
        entries.set(path, { sight, state: { kind: "git", object: indexed.object } })
        continue
      }
      const state = this.keep(path)
      if (state.kind === "absent") continue
      entries.set(path, { sight, state })
      // What was ignored until now was there before.
      const isNew = before === undefined && last?.rules.ignores(named(path, sight)) !== true
      if ((before !== undefined || isNew) && !FileStates.equal(was, state))
        changes.push({ path, before: was, after: state })
    }
    this.#entries = entries
    this.#last = found
    return changes.sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  /** What is at the path now, its content kept as far as there are no reasons against it. */
  keep(path: string): FileState {
    const { folder, snapshots } = this.#options
    const absolute = join(folder, path)
    const stat = FileStates.lstat(absolute)
    const size = stat?.size ?? 0
    if (stat?.isFile() !== true || Rules.isSecret(path) || size > snapshots.limits.maxFileBytes) {
      return FileStates.of(absolute, stat)
    }
    if (this.isEmpty) {
      if (size > this.#room) return FileStates.of(absolute, stat)
      this.#room -= size
    }
    const bytes = readFileSync(absolute)
    return { kind: "file", sha256: snapshots.put(bytes), size: bytes.length, mode: stat.mode & 0o7777 }
  }

  /** Its hash; kept unless it is too large. */
  keepBytes(bytes: Uint8Array): string {
    const { snapshots } = this.#options
    return bytes.length > snapshots.limits.maxFileBytes ? FileStates.digest(bytes) : snapshots.put(bytes)
  }

  /** The session itself has changed it, and logged that. */
  refresh(path: string, sha256: string | undefined): void {
    if (this.#entries === undefined) return
    const absolute = join(this.#options.folder, path)
    const sight = Walk.look(absolute)
    if (sight === undefined) return void this.#entries.delete(path)
    if (this.#last?.rules.ignores(named(path, sight)) === true) return
    const state = FileStates.of(absolute, FileStates.lstat(absolute), sha256 === undefined ? undefined : () => sha256)
    this.#entries.set(path, { sight, state })
  }

  /** What git has of these. */
  async #resolved(entries: ReadonlyArray<Entry>) {
    const { folder } = this.#options
    const objects = new Map<string, number>()
    for (const { sight, state } of entries) if (state.kind === "git") objects.set(state.object, sight.size)
    const contents = objects.size === 0 ? new Map<string, Buffer>() : await GitContents.read(folder, objects)
    return {
      /** Whether only its stat is another one. */
      isStill: (path: string, { sight, state }: Entry, now: Walk.Sight): boolean => {
        if (state.kind !== "git" || now.kind !== "file" || now.mode !== sight.mode || now.size !== sight.size)
          return false
        return contents.get(state.object)?.equals(readFileSync(join(folder, path))) === true
      },
      /** As it was; kept, for it is another one now. */
      stateOf: ({ sight: { mode, size }, state }: Entry): FileState => {
        if (state.kind !== "git") return state
        const bytes = contents.get(state.object)
        // Where git changes line ends and the like, its object is not the file.
        if (bytes?.length !== size) return { kind: "unknown", reason: "git does not have it as it was" }
        return { kind: "file", sha256: this.keepBytes(bytes), size, mode }
      }
    }
  }
}

const named = (path: string, { kind }: Walk.Sight): string => (kind === "directory" ? `${path}/` : path)
