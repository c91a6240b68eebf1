/**
 * One writer per session: a file beside the log that says which process has it open. A process that died leaves its file behind; the
 * next one sees that nobody is there and takes over.
 *
 * The word of a process on another host, which cannot be looked for, stands until somebody removes the file.
 */
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import type { SessionId } from "@dsh/protocol/Ids"
import * as Effect from "effect/Effect"
import { PersistenceError } from "../PersistenceError.ts"
import { isAlive, self } from "../ProcessOwner.ts"
import type { Owner } from "../ProcessOwner.ts"
import { isTaken, storageFailed } from "./Failure.ts"

export const fileName = "session.lock"

/** Where a session's lock is, and whose session it is. */
export interface Place {
  readonly id: SessionId
  readonly file: string
}

/**
 * Takes the lock of a session whose log is not there yet, in one operation: nobody can find the session, so nobody reads half of it.
 * The caller releases it.
 */
export const takeNew = (
  fs: FileSystem.FileSystem,
  place: Place
): Effect.Effect<void, PersistenceError | PlatformError> =>
  Effect.catchIf(
    Effect.suspend(() => fs.writeFileString(place.file, describe(self()), { flag: "wx", mode: 0o600 })),
    (error) => isTaken(error),
    () => take(fs, place)
  )

/** Takes the lock of a stored session. Fails with `SESSION_IN_USE` when a living process has it. The caller releases it. */
export const take = (fs: FileSystem.FileSystem, place: Place): Effect.Effect<void, PersistenceError> => {
  const attempt = (left: number): Effect.Effect<void, PersistenceError | PlatformError> =>
    Effect.catchIf(publish(fs, place.file), isTaken, () =>
      Effect.flatMap(read(fs, place.file), (found) => {
        if (found === undefined && left > 0) return attempt(left - 1)
        const owner = found === undefined ? undefined : parse(found)
        if (found === undefined || left === 0 || (owner !== undefined && isAlive(owner))) return inUse(place, owner)
        return Effect.zipRight(removeStale(fs, place, found), attempt(left - 1))
      })
    )
  return Effect.mapError(attempt(3), (error) =>
    error._tag === "PersistenceError" ? error : storageFailed("take the lock", place.file)(error)
  )
}

/** Gives back what this process took; what somebody else has taken since, after the file was removed by hand, stays theirs. */
export const release = (fs: FileSystem.FileSystem, { file }: Place): Effect.Effect<void> =>
  read(fs, file).pipe(
    Effect.flatMap((found) => (found === describe(self()) ? fs.remove(file, { force: true }) : Effect.void)),
    Effect.catchAll((error) =>
      Effect.logWarning(`${file} was left behind; it is taken for stale once this process has ended`, error)
    )
  )

// With a link the file is there with all of its content or not at all.
const publish = (fs: FileSystem.FileSystem, file: string): Effect.Effect<void, PlatformError> =>
  Effect.suspend(() => {
    const partial = beside(file, "tmp")
    return fs
      .writeFileString(partial, describe(self()), { flag: "wx", mode: 0o600 })
      .pipe(
        Effect.zipRight(fs.link(partial, file)),
        Effect.ensuring(Effect.ignoreLogged(fs.remove(partial, { force: true })))
      )
  })

/** Nothing when it has been released meanwhile. */
const read = (fs: FileSystem.FileSystem, file: string): Effect.Effect<string | undefined, PlatformError> =>
  Effect.catchIf(
    fs.readFileString(file),
    (error) => error._tag === "SystemError" && error.reason === "NotFound",
    () => Effect.succeed(undefined)
  )

// Two processes may both find a lock stale. Whoever moves it away looks at what it got before it throws it out.
const removeStale = (fs: FileSystem.FileSystem, place: Place, stale: string) =>
  Effect.gen(function* () {
    const aside = beside(place.file, "stale")
    const moved = yield* fs.rename(place.file, aside).pipe(
      Effect.as(true),
      Effect.catchIf(
        (error) => error._tag === "SystemError" && error.reason === "NotFound",
        () => Effect.succeed(false)
      )
    )
    if (!moved) return
    const found = yield* fs.readFileString(aside)
    if (found !== stale) yield* Effect.ignore(fs.link(aside, place.file))
    yield* fs.remove(aside, { force: true })
  })

const beside = (file: string, suffix: string): string =>
  `${file}.${globalThis.crypto.randomUUID().replaceAll("-", "").slice(0, 12)}.${suffix}`

const inUse = ({ file, id }: Place, owner: Owner | undefined) =>
  new PersistenceError({
    code: "SESSION_IN_USE",
    sessionId: id,
    message:
      owner === undefined
        ? `session ${id} is in use by another process; end it, or work on a fork of the session`
        : owner.host === self().host
          ? `session ${id} is in use by process ${owner.pid}; end it, or work on a fork of the session`
          : `session ${id} is in use by process ${owner.pid} on ${owner.host}; end it, or remove ${file} if that machine is gone`,
    path: file
  })

const describe = (owner: Owner): string => `${JSON.stringify(owner)}\n`

// Only a loss of power leaves a lock that cannot be read, and then its owner is gone.
const parse = (content: string): Owner | undefined => {
  try {
    const { host, pid, started } = JSON.parse(content)
    if (typeof host !== "string" || !Number.isSafeInteger(pid) || pid < 1) return undefined
    return { pid, host, ...(typeof started === "string" && { started }) }
  } catch {
    return undefined
  }
}
