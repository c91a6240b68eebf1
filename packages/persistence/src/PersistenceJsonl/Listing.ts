/**
 * The stored sessions, from the first and the last line of every log. A log that makes no sense costs a warning and nothing else.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import type { SessionId } from "@dsh/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as JsonlCodec from "../JsonlCodec.ts"
import type { PersistenceError } from "../PersistenceError.ts"
import type { SessionListing, SessionSummary } from "../SessionPersistence.ts"
import * as SessionPath from "../SessionPath.ts"
import * as Ends from "./Ends.ts"
import { ambiguous, isAbsent, misplaced, storageFailed, unreadable } from "./Failure.ts"
import { fileName } from "./Lookup.ts"
import type { Lookup } from "./Lookup.ts"

interface Found {
  readonly summary?: SessionSummary & { readonly path: string }
  readonly warning?: PersistenceError
}

export const list = (
  fs: FileSystem.FileSystem,
  path: Path.Path,
  lookup: Lookup
): Effect.Effect<SessionListing, PersistenceError> => {
  const inProject = (project: string): Effect.Effect<ReadonlyArray<Found>> =>
    fs.readDirectory(project).pipe(
      Effect.flatMap((names) =>
        Effect.forEach(names, (name) => inFolder(fs, path.join(project, name, fileName), name), { concurrency: 8 })
      ),
      Effect.catchAll((error) =>
        Effect.succeed(isAbsent(error) ? [] : [{ warning: storageFailed("list", project)(error) }])
      )
    )
  return Effect.gen(function* () {
    const found = (yield* Effect.forEach(yield* lookup.projects, inProject, { concurrency: 4 })).flat()
    const sessions = found.flatMap(({ summary }) => summary ?? [])
    const warnings = found.flatMap(({ warning }) => warning ?? [])
    return {
      sessions: sessions.sort((a, b) => b.updatedAt - a.updatedAt || (a.header.id < b.header.id ? -1 : 1)),
      warnings: [...warnings, ...duplicates(sessions)]
    }
  })
}

const inFolder = (fs: FileSystem.FileSystem, file: string, segment: string): Effect.Effect<Found> =>
  Effect.gen(function* () {
    const opened = yield* fs.open(file)
    const { mtime, size } = yield* opened.stat
    const first = yield* Ends.firstLine(opened, Number(size))
    const last = yield* Ends.lastLine(opened, Number(size))
    return summarise({
      file,
      segment,
      first,
      last,
      bytes: Number(size),
      modified: Option.getOrUndefined(mtime)?.getTime()
    })
  }).pipe(
    Effect.scoped,
    // A folder without a log, or one that vanished meanwhile, is nobody's fault.
    Effect.catchAll((error) => Effect.succeed(isAbsent(error) ? {} : { warning: storageFailed("read", file)(error) }))
  )

const summarise = (seen: {
  readonly file: string
  readonly segment: string
  readonly first: string | undefined
  readonly last: string | undefined
  readonly bytes: number
  readonly modified: number | undefined
}): Found => {
  const { bytes, file, first, last } = seen
  const decoded = first === undefined ? Either.left(JsonlCodec.noHeader) : JsonlCodec.decodeHeader(first)
  if (Either.isLeft(decoded)) return { warning: unreadable(file, 1, decoded.left) }
  const header = decoded.right
  if (SessionPath.segment(header.id) !== seen.segment) return { warning: misplaced(file, header.id) }
  const summary = { header, path: file, bytes, updatedAt: seen.modified ?? header.createdAt }
  if (last === undefined) return { summary }
  if (last === first) return { summary: { ...summary, length: 0 } }
  return Either.match(JsonlCodec.decodeLast(last), {
    onLeft: (problem) => ({ summary, warning: unreadable(file, "last", problem) }),
    onRight: ({ length, time }) => ({ summary: { ...summary, length, updatedAt: time } })
  })
}

const duplicates = (
  sessions: ReadonlyArray<SessionSummary & { readonly path: string }>
): ReadonlyArray<PersistenceError> => {
  const files = new Map<SessionId, Array<string>>()
  for (const { header, path } of sessions) files.set(header.id, [...(files.get(header.id) ?? []), path])
  return Array.from(files).flatMap(([id, paths]) => (paths.length > 1 ? ambiguous(id, paths) : []))
}
