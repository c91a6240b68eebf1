/**
 * `<file>.lock`: who has it may write the file. A process that died with it is followed by whoever comes next.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { hostname } from "node:os"
import { SettingsError } from "../Settings.ts"

const pauseMs = 50

export interface Options {
  /** How long to wait for whoever has it, in milliseconds. Default 2 s. */
  readonly patienceMs?: number
}

const own = () => JSON.stringify({ pid: process.pid, host: hostname(), id: globalThis.crypto.randomUUID() })

/** Whether nobody is there any more to give it back. */
const isAbandoned = (text: string): boolean => {
  try {
    const { host, pid } = JSON.parse(text)
    if (host !== hostname() || !Number.isSafeInteger(pid)) return false
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH"
  }
}

const acquire = (fs: FileSystem.FileSystem, file: string, lock: string, patienceMs: number) =>
  Effect.gen(function* () {
    const mine = own()
    for (let left = patienceMs; left > 0; left -= pauseMs) {
      const taken = yield* Effect.either(fs.writeFileString(lock, mine, { flag: "wx", mode: 0o600 }))
      if (taken._tag === "Right") return mine
      if (taken.left._tag !== "SystemError" || taken.left.reason !== "AlreadyExists") {
        return yield* new SettingsError({
          code: "SETTINGS_UNWRITABLE",
          file,
          reason: `cannot be written: ${taken.left.message}`
        })
      }
      yield* follow(fs, lock)
      yield* Effect.sleep(pauseMs)
    }
    return yield* new SettingsError({
      code: "SETTINGS_LOCKED",
      file,
      reason: `is being written by somebody else; remove ${lock} if nobody is`
    })
  })

/** Takes away the lock of a dead process. Another one that was put in its place meanwhile is put back. */
const follow = (fs: FileSystem.FileSystem, lock: string) =>
  Effect.gen(function* () {
    if (!isAbandoned(yield* fs.readFileString(lock))) return
    const aside = `${lock}.${globalThis.crypto.randomUUID().slice(0, 8)}`
    yield* fs.rename(lock, aside)
    if (!isAbandoned(yield* fs.readFileString(aside))) yield* Effect.ignore(fs.link(aside, lock))
    yield* fs.remove(aside, { force: true })
    // Somebody else was faster.
  }).pipe(Effect.ignore)

/** Runs an effect while this process alone may write `file`. */
export const holding =
  (file: string, { patienceMs = 2000 }: Options = {}) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SettingsError, R | FileSystem.FileSystem> =>
    Effect.flatMap(FileSystem.FileSystem, (fs) => {
      const lock = `${file}.lock`
      return Effect.acquireUseRelease(
        Effect.interruptible(acquire(fs, file, lock, patienceMs)),
        () => effect,
        (mine) =>
          Effect.ignore(
            Effect.flatMap(fs.readFileString(lock), (found) =>
              found === mine ? fs.remove(lock, { force: true }) : Effect.void
            )
          )
      )
    })
