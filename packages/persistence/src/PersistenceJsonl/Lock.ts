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
import { createHash } from "node:crypto"
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
    claiming(
      place.file,
      Effect.suspend(() => fs.writeFileString(place.file, describe(self()), { flag: "wx", mode: 0o600 }))
    ),
    (error) => isTaken(error),
    () => take(fs, place)
  )

/**
 * How many in this process have a file or are about to take it. A file of ours that nobody has could not be removed when it was given
 * back.
 */
const claims = new Map<string, number>()

const claim = (file: string, by: 1 | -1) =>
  Effect.sync(() => {
    const count = (claims.get(file) ?? 0) + by
    if (count > 0) claims.set(file, count)
    else claims.delete(file)
  })

/** Counts from the attempt on, so that nobody takes for abandoned what is about to be had. */
const claiming = <E>(file: string, taking: Effect.Effect<void, E>): Effect.Effect<void, E> =>
  Effect.zipRight(
    claim(file, 1),
    Effect.onError(taking, () => claim(file, -1))
  )

/** Takes the lock of a stored session. Fails with `SESSION_IN_USE` when a living process has it. The caller releases it. */
export const take = (fs: FileSystem.FileSystem, place: Place): Effect.Effect<void, PersistenceError> =>
  Effect.mapError(claiming(place.file, acquire(fs, place, place.file, attempts)), (error) =>
    error._tag === "PersistenceError" ? error : storageFailed("take the lock", place.file)(error)
  )

/** More than one only when somebody releases the file or dies with it at this very moment. */
const attempts = 4

/** `file` is the lock, or the right to follow its dead owner. */
const acquire = (
  fs: FileSystem.FileSystem,
  place: Place,
  file: string,
  left: number
): Effect.Effect<void, PersistenceError | PlatformError> =>
  Effect.catchIf(publish(fs, file), isTaken, () =>
    Effect.flatMap(read(fs, file), (found) => {
      const owner = found === undefined ? undefined : parse(found)
      const isAbandoned = found === describe(self()) && claims.get(file) === 1
      if (left === 0 || (owner !== undefined && isAlive(owner) && !isAbandoned)) return inUse(place, owner)
      const again = acquire(fs, place, file, left - 1)
      if (found === undefined) return again
      return Effect.flatMap(follow(fs, place, file, found), (followed) => (followed ? Effect.void : again))
    })
  )

/**
 * Puts this process in the place of a dead owner, unless somebody else did. Several may find the file stale, and whoever then removed it
 * might remove that of the first to be done; so it is replaced, and only by the one who has the right to follow this owner.
 */
const follow = (fs: FileSystem.FileSystem, place: Place, file: string, stale: string) => {
  const right = `${file}.after-${createHash("sha256").update(stale).digest("hex").slice(0, 12)}`
  return Effect.acquireUseRelease(
    claiming(right, acquire(fs, place, right, attempts)),
    () =>
      Effect.flatMap(read(fs, file), (found) => {
        if (found !== stale) return Effect.succeed(false)
        const partial = beside(file, "tmp")
        return fs
          .writeFileString(partial, describe(self()), { flag: "wx", mode: 0o600 })
          .pipe(Effect.zipRight(fs.rename(partial, file)), Effect.as(true))
      }),
    () => release(fs, { ...place, file: right })
  )
}

/** Gives back what this process took; what somebody else has taken since, after the file was removed by hand, stays theirs. */
export const release = (fs: FileSystem.FileSystem, { file }: Place): Effect.Effect<void> =>
  read(fs, file).pipe(
    Effect.flatMap((found) => (found === describe(self()) ? fs.remove(file, { force: true }) : Effect.void)),
    Effect.catchAll((error) => Effect.logWarning(`${file} was left behind; whoever comes next removes it`, error)),
    Effect.ensuring(claim(file, -1))
  )

/** Whether whoever the file names is still there; undefined when there is no file. Takes nothing. */
export const ownerOf = (
  fs: FileSystem.FileSystem,
  file: string
): Effect.Effect<{ readonly isAlive: boolean } | undefined, PersistenceError> =>
  Effect.mapBoth(read(fs, file), {
    onFailure: storageFailed("read", file),
    onSuccess: (found) => {
      if (found === undefined) return undefined
      const owner = parse(found)
      return { isAlive: owner !== undefined && isAlive(owner) }
    }
  })

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
