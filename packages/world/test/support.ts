/**
 * What the tests of this package share: a folder that goes with the Scope, and questions about processes.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs/promises"
import * as Os from "node:os"
import * as Path from "node:path"
import * as ProcessTable from "../src/SubprocessLocal/ProcessTable.ts"

/** A new folder, canonical path, removed with the Scope. */
export const tempDir = Effect.acquireRelease(
  Effect.promise(async () => Fs.realpath(await Fs.mkdtemp(Path.join(Os.tmpdir(), "dsh-test-")))),
  (path) => Effect.promise(() => Fs.rm(path, { recursive: true, force: true }))
)

/** False for a zombie: it is dead, only its parent has not looked yet. */
export const isRunning = (pid: number): boolean => {
  const table = ProcessTable.snapshot()
  if (table !== undefined) return table.some((entry) => entry.pid === pid && !entry.zombie)
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Looks again until `done` holds; the test's own time limit is the deadline. */
export const eventually = <R>(done: Effect.Effect<boolean, never, R>): Effect.Effect<void, never, R> =>
  done.pipe(
    Effect.filterOrFail((held) => held),
    Effect.retry(Schedule.spaced("10 millis")),
    Effect.orDie,
    Effect.asVoid
  )

/** False when there is nobody to send it to. */
export const signalled = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/** The pids of the watchers that look for `mark`. */
export const watchers = (mark: string): ReadonlyArray<number> => {
  const [id = ""] = mark.split(":").slice(-1)
  return execFileSync("ps", ["-A", "-ww", "-o", "pid=", "-o", "args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => id !== "" && line.includes(` dsh-watcher ${id}`))
    .map((line) => Number(line.trim().split(" ")[0]))
}

/** The one that stays: for a moment there is another, which starts it. */
export const watcherOf = (mark: string): Effect.Effect<number> => Effect.map(watched(mark, 1), ([pid]) => pid!)

/** The watcher ends by itself; nothing else says so than the process table. */
export const withoutWatcher = (mark: string): Effect.Effect<void> => Effect.asVoid(watched(mark, 0))

const watched = (mark: string, count: number) => {
  let found: ReadonlyArray<number> = []
  const look = Effect.sync(() => {
    found = watchers(mark)
    return found.length === count
  })
  return Effect.map(eventually(look), () => found)
}
