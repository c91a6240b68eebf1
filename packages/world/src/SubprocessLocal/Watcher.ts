/**
 * Ends what this process leaves behind when it could not do so itself: `kill -9`, a crash, the system short of memory.
 *
 * With the first command a small shell is started that waits, in a session of its own, for the end of a pipe whose other end only this
 * process has. However this process ends, in order or not, the system closes that end. Then the shell kills until nothing is left, and
 * goes.
 *
 * It knows what to kill in three ways, because each alone misses something:
 * - Every command carries a mark in its environment, and so does all it starts, whatever session or parent that has. On Linux the shell
 *   finds it in /proc. There is no moment in which a command runs unmarked: between fork and exec the child itself holds our end of the
 *   pipe, and with the exec it has the mark. A process started by another, like one dsh by another, carries the marks of both.
 * - Process groups are reported through the pipe. This finds commands that clear their environment, and it is what there is where
 *   environments cannot be read (macOS): there, a command is unknown for the microseconds between its start and the report.
 * - Descendants of both, for those that left the group without the mark. Who does that and loses its parent, too, escapes.
 *
 * A number may be given to another process when its group is gone, so that is reported as well.
 *
 * Where no shell can be started, as on Windows, commands run all the same. They end in every orderly way, but outlive a `kill -9`.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { Socket } from "node:net"
import * as Script from "./Watcher/Script.ts"

/** What is to be said about a process group. */
export interface Watched {
  /** The leader was reaped, but other members are left. */
  readonly orphaned: () => void
  readonly gone: () => void
}

const variable = "INSIDE_DSH"

export class Watcher {
  readonly #shell: string
  readonly #groups = new Map<number, "started" | "orphaned">()
  #id: string | undefined
  #pipe: Socket | undefined
  #warned = false

  constructor(shell = "/bin/sh") {
    this.#shell = shell
  }

  /** To be waited for before a command is started. Costs something when the watcher is not there yet, or is not any more. */
  get ready(): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#pipe !== undefined || process.platform === "win32" || this.#start() || this.#warned) return Effect.void
      this.#warned = true
      return Effect.logWarning(
        `SUBPROCESS_UNWATCHED: ${this.#shell} could not be started; if this process is killed, its commands go on`
      )
    })
  }

  /** What a command needs in its environment. */
  get mark(): Readonly<Record<string, string>> {
    // Not from an environment that somebody filtered: those who started this process have to find its commands, too.
    const outer = process.env[variable]
    return { [variable]: outer === undefined ? this.#own : `${outer}:${this.#own}` }
  }

  /** To be called in the tick of the spawn. */
  watch(leader: number): Watched {
    this.#groups.set(leader, "started")
    this.#tell("started", leader)
    return {
      orphaned: () => {
        this.#groups.set(leader, "orphaned")
        this.#tell("orphaned", leader)
      },
      gone: () => {
        this.#groups.delete(leader)
        this.#tell("gone", leader)
      }
    }
  }

  /** As if this process had ended. */
  close(): void {
    this.#pipe?.destroy()
    this.#pipe = undefined
  }

  // Not before the first command: for the first of these numbers a process has to load something.
  get #own(): string {
    return (this.#id ??= globalThis.crypto.randomUUID())
  }

  #tell(event: string, leader: number): void {
    this.#pipe?.write(`${event} ${leader}\n`)
  }

  #start(): boolean {
    const pipe = this.#spawn()
    if (pipe === undefined) return false
    pipe.unref()
    // Nothing is ever read; but a watcher that somebody killed shows itself by an end, and the next command starts another.
    pipe.resume()
    pipe.on("error", () => {})
    pipe.once("close", () => {
      if (this.#pipe === pipe) this.#pipe = undefined
    })
    this.#pipe = pipe
    for (const [leader, event] of this.#groups) this.#tell(event, leader)
    return true
  }

  #spawn(): Socket | undefined {
    try {
      const child = spawn(this.#shell, ["-c", Script.script, "dsh-watcher", this.#own], {
        cwd: "/",
        // Without a mark: when an outer process dies, this watcher still has its own work to do.
        env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
        // Not stdin: Node closes that when the child exits, and this one leaves a child of its own and exits at once.
        stdio: ["ignore", "ignore", "ignore", "pipe"],
        detached: true
      })
      child.on("error", () => {})
      child.unref()
      const pipe = child.stdio[3]
      return child.pid !== undefined && pipe instanceof Socket ? pipe : undefined
    } catch {
      return undefined
    }
  }
}

let current: Watcher | undefined
let holders = 0

/** One for the whole process, however many services there are; it goes with the last of them. */
export const shared: Effect.Effect<Watcher, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    holders++
    return (current ??= new Watcher())
  }),
  () =>
    Effect.sync(() => {
      if (--holders > 0) return
      current?.close()
      current = undefined
    })
)
