/**
 * Open files, kept between writes. There may be more live sessions than a process may have files open, so the least recently used
 * one is closed when there are too many, and opened again when it is written to.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

interface Handle {
  readonly file: FileSystem.File
  readonly scope: Scope.CloseableScope
  users: number
}

export interface Handles {
  /** Runs `use` with the open file of `path`, which `open` opens if it is not. Must not be interrupted: the file would stay in use. */
  readonly use: <A, E, E2>(
    path: string,
    open: Effect.Effect<FileSystem.File, E, Scope.Scope>,
    use: (file: FileSystem.File) => Effect.Effect<A, E2>
  ) => Effect.Effect<A, E | E2>
  readonly close: (path: string) => Effect.Effect<void>
}

/** Keeps at most `limit` files open, apart from those in use. */
export const make = (limit: number): Effect.Effect<Handles, never, Scope.Scope> =>
  Effect.gen(function* () {
    // In order of use: the least recently used comes first.
    const handles = new Map<string, Handle>()

    const close = (path: string) =>
      Effect.suspend(() => {
        const handle = handles.get(path)
        if (handle === undefined) return Effect.void
        handles.delete(path)
        return Effect.catchAllCause(Scope.close(handle.scope, Exit.void), (cause) =>
          Effect.logWarning(`closing ${path} failed`, cause)
        )
      })

    const makeRoomFor = (newest: Handle) => {
      if (handles.size <= limit) return Effect.void
      for (const [path, handle] of handles) if (handle.users === 0 && handle !== newest) return close(path)
      return Effect.void
    }

    const open = <E>(path: string, opening: Effect.Effect<FileSystem.File, E, Scope.Scope>) =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const file = yield* Scope.extend(opening, scope).pipe(
          Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
        )
        // In use from the start: while room is made for it, others make room for theirs.
        const handle: Handle = { file, scope, users: 1 }
        handles.set(path, handle)
        yield* makeRoomFor(handle)
        return handle
      })

    yield* Effect.addFinalizer(() => Effect.forEach([...handles.keys()], close, { discard: true }))

    /** Counts as a user already. */
    const run = <A, E>(handle: Handle, use: (file: FileSystem.File) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.matchCauseEffect(use(handle.file), {
        onSuccess: (value) => {
          handle.users--
          return Effect.succeed(value)
        },
        onFailure: (cause) => {
          handle.users--
          return Effect.failCause(cause)
        }
      })

    return {
      use: (path, opening, use) =>
        Effect.suspend(() => {
          const handle = handles.get(path)
          if (handle === undefined) return Effect.flatMap(open(path, opening), (opened) => run(opened, use))
          handles.delete(path)
          handles.set(path, handle)
          handle.users++
          return run(handle, use)
        }),
      close
    }
  })
