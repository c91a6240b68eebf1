/**
 * A child and everything it started, as something that can be signalled and asked whether any of it is left.
 */
import * as ProcessTable from "./ProcessTable.ts"
import type { Process } from "./ProcessTable.ts"
import * as Signal from "./Signal.ts"
import type { Watched } from "./Watcher.ts"

export class ProcessTree {
  readonly leader: number
  readonly #watched: Watched
  #leaderExited = false
  #gone = false
  /** Descendants that left the group (setsid, a job-control shell) but were still ours when the tree was signalled. */
  #strays: ReadonlyArray<Process> = []

  constructor(leader: number, watched: Watched) {
    this.leader = leader
    this.#watched = watched
  }

  /** To be called at once when the leader was reaped: from here on its pid may be given to somebody else. */
  leaderExited(): void {
    this.#leaderExited = true
    if (this.isAlive()) this.#watched.orphaned()
  }

  /** Once false, false for ever. */
  isAlive(): boolean {
    if (this.#gone) return false
    if (!this.#leaderExited) return true
    this.#strays = this.#strays.filter(ProcessTable.isRunning)
    this.#gone = !this.#groupIsAlive() && this.#strays.length === 0
    if (this.#gone) this.#watched.gone()
    return !this.#gone
  }

  /** Sends `signal` to the group and to known descendants outside of it. What cannot be signalled is left alone. */
  signal(signal: NodeJS.Signals): void {
    if (!this.isAlive()) return
    if (!this.#leaderExited) this.#noteStrays()
    Signal.send(-this.leader, signal)
    for (const stray of this.#strays) if (ProcessTable.isRunning(stray)) Signal.send(stray.pid, signal)
  }

  // Only while the leader lives: afterwards its children belong to init and their origin is forgotten.
  #noteStrays(): void {
    const table = ProcessTable.snapshot() ?? []
    const known = new Set(this.#strays.map((entry) => entry.pid))
    const found = ProcessTable.descendants(table, this.leader).filter(
      (entry) => entry.group !== this.leader && !entry.zombie && !known.has(entry.pid)
    )
    this.#strays = [...this.#strays, ...found]
  }

  // A group of zombies that nobody reaps (a container without an init) still answers to kill(2).
  #groupIsAlive(): boolean {
    if (Signal.send(-this.leader, 0) === "missing") return false
    const members = ProcessTable.snapshot()?.filter((entry) => entry.group === this.leader)
    return members === undefined || members.some((entry) => !entry.zombie)
  }
}
