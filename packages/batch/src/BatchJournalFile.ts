/**
 * `BatchJournal` in a file beside the results: one JSON value per line, only ever appended to.
 *
 * A line is handed to the operating system before what it says is acted on, so a process that is killed loses nothing; a result is synced
 * to the disk before anybody is told of it. Lines that wait together are written and synced together. One process at a time has a
 * journal; one that died with it is followed.
 */
import * as ProcessLock from "@dsh/persistence/ProcessLock"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { BatchError } from "./BatchError.ts"
import { BatchJournal, index } from "./BatchJournal.ts"
import type { BatchResult } from "./BatchResult.ts"
import * as Lines from "./BatchJournalFile/Lines.ts"

export interface Options {
  /** Where it is, or will be. Absolute. */
  readonly file: string
  /** For a batch that begins: what the journal says of it. Compared with what it says when it is there. */
  readonly about: Lines.About
}

export interface Opened {
  readonly journal: BatchJournal["Type"]
  /** What the journal says of its batch. */
  readonly about: Lines.About
  /** The results that stand, in the order in which they came. Hands each to `use`, and keeps none. */
  readonly results: (use: (result: BatchResult) => void) => Effect.Effect<void, BatchError>
}

const failed = (what: string, file: string) => (cause: PlatformError) =>
  new BatchError({ code: "JOURNAL_FAILED", message: `cannot ${what} ${file}: ${cause.message}`, cause })

/** Takes the journal until the Scope closes. Half a line at its end is cut off. */
export const open = ({
  about,
  file
}: Options): Effect.Effect<Opened, BatchError, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    yield* locked(fs, file)
    const found = (yield* Effect.mapError(fs.exists(file), failed("look for", file)))
      ? yield* Effect.mapError(fs.readFileString(file), failed("read", file))
      : ""
    const whole = found.slice(0, found.lastIndexOf("\n") + 1)
    const read = yield* Lines.read(whole, file)
    const opened = yield* Effect.mapError(fs.open(file, { flag: "a+", mode: 0o600 }), failed("open", file))
    if (whole.length < found.length) {
      yield* Effect.mapError(
        Effect.zipRight(opened.truncate(Buffer.byteLength(whole)), opened.sync),
        failed("cut the end of", file)
      )
    }
    const write = yield* writer(opened, file)
    const { finish, of, start } = index()
    for (const line of read.lines) {
      if (line.type === "finished") finish(line.digest, line.result)
      else {
        const { time: _, type: __, ...started } = line
        start(started)
      }
    }
    if (read.about === undefined) yield* write(Lines.show({ type: "batch", version: 1, ...about }), true)
    const journal = BatchJournal.of({
      of,
      started: (started) =>
        Effect.flatMap(Clock.currentTimeMillis, (time) =>
          Effect.map(write(Lines.show({ type: "started", time, ...started }), false), () => start(started))
        ),
      finished: (digest, result) =>
        Effect.flatMap(Clock.currentTimeMillis, (time) => {
          const line = Lines.show({ type: "finished", time, digest, result })
          // One that is cancelled is done again in any case, and there may be thousands of them at the end of a batch.
          return Effect.map(write(line, result.status !== "cancelled"), () => finish(digest, result))
        })
    })
    const results: Opened["results"] = (use) =>
      Effect.gen(function* () {
        const text = yield* Effect.mapError(fs.readFileString(file), failed("read", file))
        const last = new Map<string, BatchResult>()
        for (const line of (yield* Lines.read(text, file)).lines) {
          // The place is that of the last one, too.
          if (line.type === "finished") last.delete(line.result.id)
          if (line.type === "finished" && line.result.status !== "cancelled") last.set(line.result.id, line.result)
        }
        last.forEach(use)
      })
    return { journal, about: read.about ?? about, results }
  })

export const layer = (options: Options): Layer.Layer<BatchJournal, BatchError, FileSystem.FileSystem> =>
  Layer.scoped(
    BatchJournal,
    Effect.map(open(options), ({ journal }) => journal)
  )

const locked = (fs: FileSystem.FileSystem, file: string) => {
  const lock = `${file}.lock`
  return Effect.acquireRelease(
    Effect.mapError(ProcessLock.take(fs, lock), (error) =>
      error._tag === "LockTaken"
        ? new BatchError({
            code: "BATCH_IN_USE",
            message: `the batch is being worked on: ${error.message}`,
            cause: error
          })
        : failed("take", lock)(error)
    ),
    () => ProcessLock.release(fs, lock)
  )
}

interface Waiting {
  readonly text: string
  readonly isDurable: boolean
  readonly done: Deferred.Deferred<void, BatchError>
}

/** Writes what waits in one go. After a failure nothing is written any more: what stands behind a gap could not be believed. */
const writer = (opened: FileSystem.File, file: string) =>
  Effect.gen(function* () {
    const waiting = yield* Queue.unbounded<Waiting>()
    const writing = (batch: ReadonlyArray<Waiting>) =>
      Effect.zipRight(
        opened.writeAll(Buffer.from(batch.map(({ text }) => text).join(""))),
        batch.some(({ isDurable }) => isDurable) ? opened.sync : Effect.void
      ).pipe(Effect.mapError(failed("write", file)))
    let broken: BatchError | undefined
    yield* Queue.takeBetween(waiting, 1, Number.MAX_SAFE_INTEGER).pipe(
      Effect.flatMap((taken) => {
        const batch = Array.from(taken)
        const write = broken === undefined ? writing(batch) : Effect.fail(broken)
        // A write cannot be taken back: whoever closes the file waits for it.
        return Effect.uninterruptible(
          Effect.flatMap(Effect.exit(write), (exit) => {
            if (exit._tag === "Failure" && exit.cause._tag === "Fail") broken = exit.cause.error
            return Effect.forEach(batch, ({ done }) => Deferred.done(done, exit), { discard: true })
          })
        )
      }),
      Effect.forever,
      Effect.forkScoped
    )
    return (text: string, isDurable: boolean): Effect.Effect<void, BatchError> =>
      Effect.flatMap(Deferred.make<void, BatchError>(), (done) =>
        Effect.zipRight(Queue.offer(waiting, { text, isDurable, done }), Deferred.await(done))
      )
  })
