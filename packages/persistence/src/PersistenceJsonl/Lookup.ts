/**
 * Where sessions are: paths from headers, and paths from ids by folder names alone.
 */
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import type { SessionId } from "@dsh/protocol/Ids"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Effect from "effect/Effect"
import { PersistenceError } from "../PersistenceError.ts"
import * as SessionPath from "../SessionPath.ts"
import { ambiguous, isAbsent, isDenied, storageFailed } from "./Failure.ts"

export const fileName = "session.jsonl"

/** The folders of a session, outermost first, and its file. */
export interface Place {
  readonly root: string
  readonly project: string
  readonly folder: string
  readonly file: string
}

export interface Lookup {
  /** Where a session belongs. Fails with `INVALID_SESSION_ID` for an id that cannot name a folder. */
  readonly placeOf: (header: SessionHeader) => Effect.Effect<Place, PersistenceError>
  /** The file of a stored session, in whichever project it is. Fails with `AMBIGUOUS_SESSION` when there are two. */
  readonly find: (id: SessionId) => Effect.Effect<string | undefined, PersistenceError>
  /** The project folders there are. */
  readonly projects: Effect.Effect<ReadonlyArray<string>, PersistenceError>
}

export const make = (fs: FileSystem.FileSystem, path: Path.Path, root: string): Lookup => {
  const projects = fs.readDirectory(root).pipe(
    Effect.catchIf(
      (error) => error._tag === "SystemError" && error.reason === "NotFound",
      () => Effect.succeed<ReadonlyArray<string>>([])
    ),
    Effect.mapBoth({
      onFailure: storageFailed("list", root),
      onSuccess: (names) => names.map((name) => path.join(root, name))
    })
  )

  const exists = (file: string): Effect.Effect<boolean, PlatformError> =>
    fs.exists(file).pipe(
      Effect.catchIf(isAbsent, () => Effect.succeed(false)),
      // Somebody else's folder must not stop everybody's sessions.
      Effect.catchIf(isDenied, (error) => Effect.as(Effect.logWarning(`cannot look for ${file}`, error), false))
    )

  const find = Effect.fnUntraced(function* (id: SessionId) {
    const segment = SessionPath.segment(id)
    if (segment === undefined) return undefined
    const candidates = (yield* projects).map((project) => path.join(project, segment, fileName))
    const found = yield* Effect.filter(candidates, (file) =>
      Effect.mapError(exists(file), storageFailed("look for", file))
    )
    if (found.length < 2) return found[0]
    return yield* ambiguous(id, found)
  })

  return {
    placeOf: (header) =>
      Effect.suspend(() => {
        const segment = SessionPath.segment(header.id)
        if (segment === undefined) {
          return new PersistenceError({
            code: "INVALID_SESSION_ID",
            sessionId: header.id,
            message: `session id "${header.id}" cannot name a folder; use a shorter one, of letters, digits, ".", "_" and "-"`
          })
        }
        const project = path.join(root, SessionPath.project(header.cwd))
        const folder = path.join(project, segment)
        return Effect.succeed({ root, project, folder, file: path.join(folder, fileName) })
      }),
    find,
    projects
  }
}
