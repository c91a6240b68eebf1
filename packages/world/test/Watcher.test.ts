import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Watcher } from "../src/SubprocessLocal/Watcher.ts"
import { eventually, isRunning, signalled, tempDir, watcherOf, watchers, withoutWatcher } from "./support.ts"

const isLinux = process.platform === "linux"

const started = (shell?: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new Watcher(shell)),
    (watcher) => Effect.sync(() => watcher.close())
  ).pipe(Effect.tap((watcher) => watcher.ready))

const markOf = (watcher: Watcher) => Object.values(watcher.mark)[0]!

/** Leads a group. */
const sleep = (env: Readonly<Record<string, string>>): Effect.Effect<number, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => spawn("/bin/sleep", ["600"], { env: { ...env }, stdio: "ignore", detached: true }).pid!),
    (pid) => Effect.sync(() => signalled(pid, "SIGKILL"))
  )

/** As if this process had ended: waits until `doomed` and the watcher are gone, and succeeds with those of `others` that live. */
const ended = (watcher: Watcher, doomed: number, others: ReadonlyArray<number> = []) =>
  Effect.gen(function* () {
    watcher.close()
    yield* eventually(Effect.sync(() => !isRunning(doomed)))
    yield* withoutWatcher(markOf(watcher))
    return others.filter(isRunning)
  })

describe("Watcher", () => {
  it.scopedLive("kills reported groups and nobody who got the number of one that is gone", () =>
    Effect.gen(function* () {
      const watcher = yield* started()
      const [group = 0, ...others] = yield* Effect.replicateEffect(sleep({}), 4)
      const [orphaned = 0, gone = 0, both = 0] = others
      watcher.watch(group)
      // It runs, so it is not the leader that was reaped.
      watcher.watch(orphaned).orphaned()
      watcher.watch(gone).gone()
      const watched = watcher.watch(both)
      watched.orphaned()
      watched.gone()
      assert.deepStrictEqual(yield* ended(watcher, group, others), others)
    })
  )

  it.scopedLive("kills the rest of a group whose leader is gone", () =>
    Effect.gen(function* () {
      const watcher = yield* started()
      const leader = spawn("/bin/sh", ["-c", "sleep 600 >/dev/null & echo $!"], {
        env: {},
        stdio: ["ignore", "pipe", "ignore"],
        detached: true
      })
      const watched = watcher.watch(leader.pid!)
      const [chunk] = yield* Effect.promise(() => once(leader.stdout, "data"))
      yield* Effect.promise(() => once(leader, "close"))
      watched.orphaned()
      yield* ended(watcher, Number(chunk))
    })
  )

  it.runIf(isLinux)("finds its mark with nothing but a shell", () =>
    Effect.gen(function* () {
      const shell = join(yield* tempDir, "sh")
      writeFileSync(shell, '#!/bin/sh\nPATH=/nowhere exec /bin/sh "$@"\n', { mode: 0o755 })
      const watcher = yield* started(shell)
      const marked = yield* sleep(watcher.mark)
      const other = yield* sleep({ ...new Watcher().mark, NOTE: "x\ny" })
      assert.deepStrictEqual(yield* ended(watcher, marked, [other]), [other])
    }).pipe(Effect.scoped, Effect.runPromise)
  )

  it.scopedLive("ignores the signals that end others", () =>
    Effect.gen(function* () {
      const watcher = yield* started()
      const mark = markOf(watcher)
      const watching = yield* watcherOf(mark)
      for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) signalled(watching, signal)
      assert.deepStrictEqual(watchers(mark), [watching])
      const pid = yield* sleep({})
      watcher.watch(pid)
      yield* ended(watcher, pid)
    })
  )

  it.scopedLive("is no condition for running a command, but says once that it is missing", () =>
    Effect.gen(function* () {
      const said: Array<unknown> = []
      const logger = Logger.make(({ message }) => void said.push(message))
      const watcher = yield* started("/no/such/shell").pipe(
        Effect.tap((it) => it.ready),
        Effect.provide(Logger.replace(Logger.defaultLogger, logger))
      )
      watcher.watch(yield* sleep({})).orphaned()
      assert.lengthOf(said, 1)
      assert.match(String(said[0]), /SUBPROCESS_UNWATCHED: \/no\/such\/shell could not be started/)
    })
  )
})
