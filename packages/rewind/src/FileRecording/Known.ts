/**
 * What is known of a workspace: every watched path with its stat and its content, so that the next look finds what is different.
 */
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import type { FileChange, FileState } from "../FileChange.ts"
import * as FileStates from "../FileStates.ts"
import type { Snapshots } from "../Snapshots.ts"
import * as Rules from "./Rules.ts"
import * as Walk from "./Walk.ts"

export interface Options extends Walk.Place {
  readonly snapshots: Snapshots
  /** How much of a workspace is kept before its first command, in bytes. */
  readonly maxFirstBytes: number
}

interface Entry {
  readonly sight: Walk.Sight
  readonly state: FileState
}

const sliceMs = 8

export class Known {
  readonly #options: Options
  #entries: Map<string, Entry> | undefined
  #rules: Rules.Rules | undefined
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
    const found = await Walk.walk(this.#options)
    if (found === undefined) {
      this.#entries = undefined
      return undefined
    }
    const old = this.#entries ?? new Map<string, Entry>()
    const rules = this.#rules
    const entries = new Map<string, Entry>()
    const changes: Array<FileChange> = []
    let began = performance.now()
    for (const [path, sight] of found.sights) {
      const before = old.get(path)
      if (before !== undefined && Walk.isSame(before.sight, sight)) {
        entries.set(path, before)
        continue
      }
      const state = this.#stateOf(path)
      if (state.kind === "absent") continue
      entries.set(path, { sight, state })
      const was = before?.state ?? FileStates.absent
      // What was ignored until now was there before.
      const isNew = before === undefined && rules?.ignores(sight.kind === "directory" ? `${path}/` : path) !== true
      if ((before !== undefined || isNew) && !FileStates.equal(was, state))
        changes.push({ path, before: was, after: state })
      if (performance.now() - began > sliceMs) {
        await setImmediate()
        began = performance.now()
      }
    }
    for (const [path, { state }] of old) {
      if (found.sights.has(path)) continue
      const after = FileStates.of(join(this.#options.folder, path))
      // What is ignored from now on is still there.
      if (after.kind === "absent") changes.push({ path, before: state, after })
    }
    this.#entries = entries
    this.#rules = found.rules
    return changes.sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  /** What is at the path now, its content kept. */
  keep(path: string): FileState {
    return this.#stateOf(path)
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
    const rules = this.#rules
    if (rules?.ignores(sight.kind === "directory" ? `${path}/` : path) === true) return
    const state = FileStates.of(absolute, FileStates.lstat(absolute), sha256 === undefined ? undefined : () => sha256)
    this.#entries.set(path, { sight, state })
  }

  #stateOf(path: string): FileState {
    const { folder, snapshots } = this.#options
    const absolute = join(folder, path)
    const stat = FileStates.lstat(absolute)
    if (stat?.isFile() !== true) return FileStates.of(absolute, stat)
    if (Rules.isSecret(path)) return FileStates.of(absolute, stat)
    if (stat.size > snapshots.limits.maxFileBytes) return FileStates.of(absolute, stat)
    if (this.isEmpty) {
      if (stat.size > this.#room) return FileStates.of(absolute, stat)
      this.#room -= stat.size
    }
    return FileStates.of(absolute, stat, () => snapshots.putFile(absolute))
  }
}
