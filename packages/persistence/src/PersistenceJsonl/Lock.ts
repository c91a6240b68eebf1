/**
 * One writer per session: a lock beside the log that says which process has it open.
 */
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import type { SessionId } from "@dsh/protocol/Ids"
import * as Effect from "effect/Effect"
import { PersistenceError } from "../PersistenceError.ts"
import * as ProcessLock from "../ProcessLock.ts"
import { self } from "../ProcessOwner.ts"
import { storageFailed } from "./Failure.ts"

export const fileName = "session.lock"

/** Where a session's lock is, and whose session it is. */
export interface Place {
  readonly id: SessionId
  readonly file: string
}

/** Takes the lock of a session whose log is not there yet: nobody can find the session. The caller releases it. */
export const takeNew = (
  fs: FileSystem.FileSystem,
  place: Place
): Effect.Effect<void, PersistenceError | PlatformError> =>
  Effect.mapError(ProcessLock.takeNew(fs, place.file), (error) =>
    error._tag === "LockTaken" ? inUse(place, error) : error
  )

/** Takes the lock of a stored session. Fails with `SESSION_IN_USE` when a living process has it. The caller releases it. */
export const take = (fs: FileSystem.FileSystem, place: Place): Effect.Effect<void, PersistenceError> =>
  Effect.mapError(ProcessLock.take(fs, place.file), (error) =>
    error._tag === "LockTaken" ? inUse(place, error) : storageFailed("take the lock", place.file)(error)
  )

/** Gives back what this process took. */
export const release = (fs: FileSystem.FileSystem, { file }: Place): Effect.Effect<void> =>
  ProcessLock.release(fs, file)

/** Whether whoever the file names is still there; undefined when there is no file. Takes nothing. */
export const ownerOf = (
  fs: FileSystem.FileSystem,
  file: string
): Effect.Effect<{ readonly isAlive: boolean } | undefined, PersistenceError> =>
  Effect.mapError(ProcessLock.ownerOf(fs, file), storageFailed("read", file))

const inUse = ({ file, id }: Place, { owner }: ProcessLock.LockTaken) =>
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
