/**
 * A terminal's session as something that can be ended: a shell with job control puts every command into a process group of its own, so
 * the group of the leader is not all of it, but the session is. What left the session and still descends from it is ours as well.
 *
 * Without /proc it is the group of the leader; the rest hears of the end by the terminal's own hanging up.
 */
import * as ProcessTable from "./ProcessTable.ts"
import type { Process } from "./ProcessTable.ts"
import * as Signal from "./Signal.ts"
import type { Watched } from "./Watcher.ts"

export class SessionTree {
  readonly #leader: number
  /** Pids are reused, and the leader is reaped before we hear of it. */
  readonly #identity: Process | undefined
  readonly #watched: Watched
  #leaderExited = false
  #gone = false
  /** Members of the session, and descendants that left it but were still ours when the session was signalled. */
  #members: ReadonlyArray<Process> = []

  constructor(leader: number, watched: Watched) {
    this.#leader = leader
    this.#identity = ProcessTable.read(leader)
    this.#watched = watched
  }

  leaderExited(): void {
    this.#leaderExited = true
    if (this.isAlive()) this.#watched.orphaned()
  }

  isAlive(): boolean {
    if (this.#gone) return false
    if (!this.#leaderExited) return true
    this.#note()
    this.#gone = this.#members.length === 0 && !(this.#identity === undefined && this.#groupAnswers())
    if (this.#gone) this.#watched.gone()
    return !this.#gone
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.isAlive()) return
    this.#note()
    if (this.#identity === undefined) Signal.send(-this.#leader, signal)
    for (const { pid } of this.#members) {
      Signal.send(pid, signal)
      // Interactive shells ignore SIGTERM, but not the end of their terminal; and what is stopped does not hear of it.
      if (signal === "SIGTERM") {
        Signal.send(pid, "SIGHUP")
        Signal.send(pid, "SIGCONT")
      }
    }
  }

  #note(): void {
    const table = ProcessTable.snapshot() ?? []
    const known = new Set(this.#members.filter(ProcessTable.isRunning).map(({ pid }) => pid))
    const isLeader = ({ pid, startTime }: Process) => pid === this.#leader && startTime === this.#identity?.startTime
    // While anybody is in a session nobody else gets its number; when nobody is, this finds nobody that was known.
    const isOurs = (entry: Process) => known.has(entry.pid) || isLeader(entry) || this.#isMember(entry)
    const roots = table.filter(isOurs)
    const found = new Map<number, Process>()
    for (const { pid } of roots) for (const entry of ProcessTable.descendants(table, pid)) found.set(entry.pid, entry)
    this.#members = [...found.values()].filter(({ zombie }) => !zombie)
  }

  #isMember({ session, startTime }: Process): boolean {
    return session === this.#leader && Number(startTime) >= Number(this.#identity?.startTime ?? Infinity)
  }

  #groupAnswers(): boolean {
    return Signal.send(-this.#leader, 0) !== "missing"
  }
}
