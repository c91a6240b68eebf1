/**
 * `SessionPersistence` as plain text: `<root>/<project>/<session>/session.jsonl`, one JSON value per line, for `grep`, `jq` and
 * `tail -f`. The first line is the header, every other line an event or a row of stream deltas.
 *
 * Folders are private to the user (0700), files too (0600).
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import type { SessionId } from "@dsh/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { PersistenceBackend } from "./PersistenceBackend.ts"
import * as Coordinator from "./PersistenceCoordinator.ts"
import { PersistenceError } from "./PersistenceError.ts"
import { isAbsent, misplaced, storageFailed, unreadable } from "./PersistenceJsonl/Failure.ts"
import * as Handles from "./PersistenceJsonl/Handles.ts"
import * as Lines from "./PersistenceJsonl/Lines.ts"
import * as Listing from "./PersistenceJsonl/Listing.ts"
import * as Lock from "./PersistenceJsonl/Lock.ts"
import * as Lookup from "./PersistenceJsonl/Lookup.ts"
import * as Rewrite from "./PersistenceJsonl/Rewrite.ts"
import * as Tail from "./PersistenceJsonl/Tail.ts"
import * as Writer from "./PersistenceJsonl/Writer.ts"
import { SessionPersistence } from "./SessionPersistence.ts"

export interface Options extends Coordinator.Options {
  /** The folder of all sessions. Created with the first one. */
  readonly root: string
  /** How many files are kept open between writes; default 64. */
  readonly openFiles?: number
}

/** Fails with `STORAGE_FAILED` when `root` is there and is not a folder. */
export const make = ({
  openFiles = 64,
  root,
  ...options
}: Options): Effect.Effect<
  SessionPersistence["Type"],
  PersistenceError,
  FileSystem.FileSystem | Path.Path | Scope.Scope
> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const resolved = path.resolve(root)
    yield* refuseOtherThanFolder(fs, resolved)
    const handles = yield* Handles.make(openFiles)
    return yield* Coordinator.make(backend({ fs, path, handles }, resolved), options)
  })

export const layer = (
  options: Options
): Layer.Layer<SessionPersistence, PersistenceError, FileSystem.FileSystem | Path.Path> =>
  Layer.scoped(SessionPersistence, make(options))

/**
 * Who has the log at `path` open, as the lock beside it says: nobody is undefined. A lock that names nobody was left by a loss of power.
 */
export const ownerOf = (
  path: string
): Effect.Effect<{ readonly isAlive: boolean } | undefined, PersistenceError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Lock.ownerOf(fs, `${path.slice(0, -Lookup.fileName.length)}${Lock.fileName}`)
  )

const refuseOtherThanFolder = (fs: FileSystem.FileSystem, root: string) =>
  fs.readDirectory(root).pipe(
    Effect.as(true),
    Effect.catchIf(isAbsent, (error) => Effect.succeed(error._tag === "SystemError" && error.reason === "NotFound")),
    Effect.mapError(storageFailed("look at", root)),
    Effect.filterOrFail(
      (usable) => usable,
      () =>
        new PersistenceError({
          code: "STORAGE_FAILED",
          message: `sessions cannot be kept in ${root}: it is not a folder; choose another one`,
          path: root
        })
    ),
    Effect.asVoid
  )

const backend = (env: Writer.Environment, root: string): PersistenceBackend => {
  const { fs, handles, path } = env
  const lookup = Lookup.make(fs, path, root)

  const bytesOf = (id: SessionId) =>
    Effect.flatMap(locate(id), (file) =>
      Effect.mapBoth(fs.readFile(file), {
        onFailure: storageFailed("read", file),
        onSuccess: (bytes) => ({ file, bytes })
      })
    )

  const read = (id: SessionId) =>
    Effect.gen(function* () {
      const { bytes, file } = yield* bytesOf(id)
      const stored = yield* Either.mapLeft(Lines.decode(bytes), ({ line, problem }) => unreadable(file, line, problem))
      if (stored.header.id !== id) return yield* misplaced(file, stored.header.id)
      return { file, stored, bytes }
    })

  const locate = (id: SessionId) =>
    Effect.flatMap(lookup.find(id), (file) => (file === undefined ? notFound(id, root) : Effect.succeed(file)))

  const hold = (id: SessionId) =>
    Effect.flatMap(locate(id), (file) => {
      const lock = lockOf(id, path.dirname(file))
      return Effect.acquireRelease(Lock.take(fs, lock), () => Lock.release(fs, lock))
    })

  const lockOf = (id: SessionId, folder: string): Lock.Place => ({ id, file: path.join(folder, Lock.fileName) })

  /** The open file, if any, is closed with the session. */
  const closedWithScope = (file: string) => Effect.addFinalizer(() => handles.close(file))

  return {
    locate: (id) => Effect.map(lookup.find(id), (file) => (file === undefined ? undefined : { path: file })),
    create: (header) =>
      Effect.gen(function* () {
        const place = yield* lookup.placeOf(header)
        const lock = lockOf(header.id, place.folder)
        const locked = { is: false }
        yield* Effect.addFinalizer(() => (locked.is ? Lock.release(fs, lock) : Effect.void))
        yield* closedWithScope(place.file)
        const take = Effect.suspend(() =>
          locked.is
            ? Effect.void
            : Effect.map(Lock.takeNew(fs, lock), () => {
                locked.is = true
              })
        )
        return Writer.fresh(env, header, place, take)
      }),
    resume: (id) =>
      Effect.gen(function* () {
        yield* hold(id)
        const { bytes, file, stored } = yield* read(id)
        const committed = bytes.length - stored.tornBytes
        if (stored.tornBytes > 0) yield* Tail.cut(fs, file, bytes, committed)
        yield* closedWithScope(file)
        return { stored, writer: Writer.behind(env, file, committed) }
      }),
    load: (id) => Effect.map(read(id), ({ stored }) => stored),
    list: Listing.list(fs, path, lookup),
    hold,
    raw: (id) => Effect.map(bytesOf(id), ({ bytes, file }) => ({ path: file, ...Lines.raw(bytes) })),
    rewrite: (id, header, entries) => Effect.flatMap(locate(id), (file) => Rewrite.rewrite(env, file, header, entries)),
    remove: (id) => Effect.flatMap(locate(id), (file) => Rewrite.remove(env, file))
  }
}

const notFound = (id: SessionId, root: string) =>
  new PersistenceError({
    code: "SESSION_NOT_FOUND",
    sessionId: id,
    message: `there is no session ${id} in ${root}; list the sessions to see which ones there are`,
    path: root
  })
