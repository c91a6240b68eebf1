/**
 * What the tests of this package share.
 */
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Fs from "node:fs/promises"
import * as Os from "node:os"
import * as Path from "node:path"
import * as BashLocal from "../src/BashLocal.ts"

/** A new folder, canonical path, removed with the Scope. */
export const tempDir = Effect.acquireRelease(
  Effect.promise(async () => Fs.realpath(await Fs.mkdtemp(Path.join(Os.tmpdir(), "dsh-test-")))),
  (path) => Effect.promise(() => Fs.rm(path, { recursive: true, force: true }))
)

/** Looks again until `done` holds; the test's own time limit is the deadline. */
export const eventually = (done: () => boolean): Effect.Effect<void> =>
  Effect.sync(done).pipe(
    Effect.filterOrFail((held) => held),
    Effect.retry(Schedule.spaced("10 millis")),
    Effect.orDie,
    Effect.asVoid
  )

export const bash = (options?: BashLocal.Options) => Layer.provide(BashLocal.layer(options), SubprocessLocal.layer())
