/**
 * A file that says which process has something to itself. A process that died leaves its file behind; the next one sees that nobody is
 * there and takes over.
 *
 * The word of a process on another host, which cannot be looked for, stands until somebody removes the file.
 */
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { isAlive, self } from "./ProcessOwner.ts"
import type { Owner } from "./ProcessOwner.ts"
import { createHash } from "node:crypto"

/** Somebody else has it, who is alive as far as can be told. */
export class LockTaken extends Data.TaggedError("LockTaken")<{
  readonly file: string
  readonly owner: Owner | undefined
}> {
  readonly code = "LOCK_TAKEN"
  override get message(): string {
    const { file, owner } = this
    if (owner === undefined) return `${file} is taken by another process; end it first`
    return owner.host === self().host
      ? `${file} is taken by process ${owner.pid}; end it first`
      : `${file} is taken by process ${owner.pid} on ${owner.host}; end it, or remove the file if that machine is gone`
  }
}

/**
 * Takes a lock that nobody looks for yet, in one operation: nobody reads half of the file. The caller releases it.
 */
export const takeNew = (fs: FileSystem.FileSystem, file: string): Effect.Effect<void, LockTaken | PlatformError> =>
  Effect.catchIf(
    claiming(
      file,
      Effect.suspend(() => fs.writeFileString(file, describe(self()), { flag: "wx", mode: 0o600 }))
    ),
    isThere,
    () => take(fs, file)
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

/** Fails with `LOCK_TAKEN` when a living process has it. The caller releases it. */
export const take = (fs: FileSystem.FileSystem, file: string): Effect.Effect<void, LockTaken | PlatformError> =>
  claiming(file, acquire(fs, file, attempts))

/** More than one only when somebody releases the file or dies with it at this very moment. */
const attempts = 4

/** `file` is the lock, or the right to follow its dead owner. */
const acquire = (
  fs: FileSystem.FileSystem,
  file: string,
  left: number
): Effect.Effect<void, LockTaken | PlatformError> =>
  Effect.catchIf(publish(fs, file), isThere, () =>
    Effect.flatMap(read(fs, file), (found) => {
      const owner = found === undefined ? undefined : parse(found)
      const isAbandoned = found === describe(self()) && claims.get(file) === 1
      if (left === 0 || (owner !== undefined && isAlive(owner) && !isAbandoned)) return new LockTaken({ file, owner })
      const again = acquire(fs, file, left - 1)
      if (found === undefined) return again
      return Effect.flatMap(follow(fs, file, found), (followed) => (followed ? Effect.void : again))
    })
  )

/**
 * Puts this process in the place of a dead owner, unless somebody else did. Several may find the file stale, and whoever then removed it
 * might remove that of the first to be done; so it is replaced, and only by the one who has the right to follow this owner.
 */
const follow = (fs: FileSystem.FileSystem, file: string, stale: string) => {
  const right = `${file}.after-${createHash("sha256").update(stale).digest("hex").slice(0, 12)}`
  return Effect.acquireUseRelease(
    claiming(right, acquire(fs, right, attempts)),
    () =>
      Effect.flatMap(read(fs, file), (found) => {
        if (found !== stale) return Effect.succeed(false)
        const partial = beside(file, "tmp")
        return fs
          .writeFileString(partial, describe(self()), { flag: "wx", mode: 0o600 })
          .pipe(Effect.zipRight(fs.rename(partial, file)), Effect.as(true))
      }),
    () => release(fs, right)
  )
}

/** Gives back what this process took; what somebody else has taken since, after the file was removed by hand, stays theirs. */
export const release = (fs: FileSystem.FileSystem, file: string): Effect.Effect<void> =>
  read(fs, file).pipe(
    Effect.flatMap((found) => (found === describe(self()) ? fs.remove(file, { force: true }) : Effect.void)),
    Effect.catchAll((error) => Effect.logWarning(`${file} was left behind; whoever comes next removes it`, error)),
    Effect.ensuring(claim(file, -1))
  )

/** Whether whoever the file names is still there; undefined when there is no file. Takes nothing. */
export const ownerOf = (
  fs: FileSystem.FileSystem,
  file: string
): Effect.Effect<{ readonly isAlive: boolean } | undefined, PlatformError> =>
  Effect.map(read(fs, file), (found) => {
    if (found === undefined) return undefined
    const owner = parse(found)
    return { isAlive: owner !== undefined && isAlive(owner) }
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

const isThere = (error: LockTaken | PlatformError): error is PlatformError =>
  error._tag === "SystemError" && error.reason === "AlreadyExists"

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
