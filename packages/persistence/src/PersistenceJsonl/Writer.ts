/**
 * Writes one log file. The file comes into being whole, with the first batch in it; later batches go behind what is there, and one that
 * fails is cut off again. Nothing interrupts it (see `SessionWriter`), so there is never half a batch.
 */
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as JsonlCodec from "../JsonlCodec.ts"
import type { SessionWriter } from "../PersistenceBackend.ts"
import { PersistenceError } from "../PersistenceError.ts"
import { isTaken, notUndone, storageFailed } from "./Failure.ts"
import type { Handles } from "./Handles.ts"
import { fileName } from "./Lookup.ts"
import type { Place } from "./Lookup.ts"

export interface Environment {
  readonly fs: FileSystem.FileSystem
  readonly path: Path.Path
  readonly handles: Handles
}

const encoder = new TextEncoder()

/** A writer for a session that is not stored yet. `lock` is run once the session's folder is there. */
export const fresh = (
  env: Environment,
  header: SessionHeader,
  place: Place,
  lock: Effect.Effect<void, PersistenceError | PlatformError>
): SessionWriter => {
  let stored: SessionWriter | undefined
  return {
    append: (entries, options) => {
      if (stored !== undefined) return stored.append(entries, options)
      const bytes = encoder.encode(JsonlCodec.encodeHeader(header) + JsonlCodec.encode(entries))
      const folders: Array<string> = []
      return env.handles.use(
        place.file,
        publish(env, header, place, { bytes, folders, lock, sync: options.sync }),
        () => {
          stored = behind(env, place.file, bytes.length, folders)
          return Effect.void
        }
      )
    },
    sync: Effect.suspend(() => stored?.sync ?? Effect.void)
  }
}

/**
 * A writer behind the first `size` bytes of a stored log, which must be all of it. `folders` have entries that are not synced yet.
 */
export const behind = (
  { fs, handles, path }: Environment,
  file: string,
  size: number,
  folders: Array<string> = []
): SessionWriter => {
  // A batch that failed is still there, in part, because cutting it off failed as well.
  let overhang = false

  const open = Effect.mapError(fs.open(file, { flag: "a" }), storageFailed("open", file))

  /** Whoever ignores the lock is found out before anything is written behind what it wrote. */
  const check = (handle: FileSystem.File) =>
    Effect.flatMap(Effect.mapError(handle.stat, storageFailed("look at", file)), ({ size: found }) =>
      Number(found) === size || (overhang && Number(found) > size)
        ? Effect.void
        : new PersistenceError({
            code: "TORN_TAIL",
            message:
              `${file} has ${found} bytes where ${size} were left, so something else wrote to it; ` +
              "continue the session anew, which reads what is there",
            path: file
          })
    )

  const cutBack = (handle: FileSystem.File) =>
    Effect.suspend(() => {
      overhang = true
      return handle
        .truncate(size)
        .pipe(Effect.andThen(handle.sync), Effect.andThen(Effect.sync(() => void (overhang = false))))
    })

  const failed = (handle: FileSystem.File, cause: PlatformError) => {
    const failure = storageFailed("write to", file)(cause)
    return Effect.matchEffect(cutBack(handle), {
      onSuccess: () => Effect.fail(failure),
      onFailure: (second) => Effect.fail(notUndone(failure, second))
    })
  }

  /** The file and, once, the entries that lead to it. */
  const syncAll = (handle: FileSystem.File) =>
    Effect.suspend(() => {
      if (folders.length === 0) return handle.sync
      return Effect.zipRight(
        Effect.zipRight(handle.sync, syncFolders(fs, path, folders)),
        Effect.sync(() => void (folders.length = 0))
      )
    })

  return {
    append: (entries, { sync }) => {
      const bytes = encoder.encode(JsonlCodec.encode(entries))
      return handles.use(file, open, (handle) => {
        const written = sync ? Effect.zipRight(handle.writeAll(bytes), syncAll(handle)) : handle.writeAll(bytes)
        const appended = Effect.matchEffect(overhang ? Effect.zipRight(cutBack(handle), written) : written, {
          onSuccess: () => {
            size += bytes.length
            return Effect.void
          },
          onFailure: (cause) => failed(handle, cause)
        })
        return Effect.zipRight(check(handle), appended)
      })
    },
    sync: handles.use(file, open, (handle) => Effect.mapError(syncAll(handle), storageFailed("sync", file)))
  }
}

interface Publication {
  readonly bytes: Uint8Array
  readonly sync: boolean
  readonly lock: Effect.Effect<void, PersistenceError | PlatformError>
  /** Gets the folders that have a new entry which is not synced. */
  readonly folders: Array<string>
}

/** Brings the file into being with `bytes` in it, and leaves it open for appending. */
const publish = (
  { fs, path }: Environment,
  header: SessionHeader,
  place: Place,
  { bytes, folders, lock, sync }: Publication
): Effect.Effect<FileSystem.File, PersistenceError, Scope.Scope> =>
  Effect.gen(function* () {
    const isNewProject = !(yield* fs.exists(place.project))
    yield* fs.makeDirectory(place.folder, { recursive: true, mode: 0o700 })
    yield* Effect.mapError(lock, (error) =>
      error._tag === "PersistenceError" && error.code === "SESSION_IN_USE"
        ? takenMeanwhile(header, place, error)
        : error
    )
    const temporary = path.join(place.folder, `${fileName}.${randomHex()}.tmp`)
    const removeTemporary = Effect.catchAll(fs.remove(temporary, { force: true }), (error) =>
      Effect.logWarning(`${temporary} was left behind`, error)
    )
    const file = yield* Effect.gen(function* () {
      const opened = yield* fs.open(temporary, { flag: "ax", mode: 0o600 })
      yield* opened.writeAll(bytes)
      // A link to what is not on the disk yet would survive a loss of power as a link to nothing.
      if (sync) yield* opened.sync
      // Unlike a rename, a link never replaces what somebody else published meanwhile.
      yield* Effect.mapError(fs.link(temporary, place.file), (error) =>
        isTaken(error) ? takenMeanwhile(header, place, error) : cannotCreate(place)(error)
      )
      return opened
    }).pipe(Effect.ensuring(removeTemporary))
    const changed = [place.folder, place.project, ...(isNewProject ? [place.root] : [])]
    if (sync) yield* Effect.catchAll(syncFolders(fs, path, changed), (error) => unpublish(fs, place, error))
    else folders.push(...changed)
    return file
  }).pipe(Effect.mapError((error) => (error._tag === "PersistenceError" ? error : cannotCreate(place)(error))))

const cannotCreate = (place: Place) => storageFailed("create", place.file)

const takenMeanwhile = (header: SessionHeader, place: Place, cause: PlatformError | PersistenceError) =>
  new PersistenceError({
    code: "SESSION_ALREADY_EXISTS",
    sessionId: header.id,
    message: `session ${header.id} was stored by another process meanwhile, in ${place.file}; choose another id`,
    path: place.file,
    cause
  })

// The next attempt publishes again, so the file must be gone by then.
const unpublish = (fs: FileSystem.FileSystem, place: Place, cause: PlatformError) =>
  Effect.matchEffect(fs.remove(place.file), {
    onSuccess: () => Effect.fail(cannotCreate(place)(cause)),
    onFailure: (second) => Effect.fail(notUndone(cannotCreate(place)(cause), second))
  })

const randomHex = (): string => globalThis.crypto.randomUUID().replaceAll("-", "").slice(0, 12)

// The entry of a new file is part of its folder, and survives a loss of power only when the folder is synced as well.
const syncFolders = (fs: FileSystem.FileSystem, path: Path.Path, folders: ReadonlyArray<string>) =>
  // Windows opens no folders, and keeps their entries in its own journal.
  path.sep === "\\"
    ? Effect.void
    : Effect.forEach(folders, (folder) => Effect.scoped(Effect.flatMap(fs.open(folder), (opened) => opened.sync)), {
        concurrency: "unbounded",
        discard: true
      })
