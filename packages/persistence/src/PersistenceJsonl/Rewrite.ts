/**
 * Puts another log in the place of a stored one, or nothing. Whoever does it holds the session's lock.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Effect from "effect/Effect"
import * as JsonlCodec from "../JsonlCodec.ts"
import type { PersistenceError } from "../PersistenceError.ts"
import { isTaken, storageFailed } from "./Failure.ts"
import type { Environment } from "./Writer.ts"

const encoder = new TextEncoder()

/** The old log is kept beside the new one; succeeds with its name. At every moment one of the two is in place. */
export const rewrite = (
  { fs, path }: Environment,
  file: string,
  header: SessionHeader,
  entries: ReadonlyArray<LogEntry>
): Effect.Effect<string, PersistenceError> =>
  Effect.gen(function* () {
    const temporary = `${file}.repaired.tmp`
    yield* fs.remove(temporary, { force: true })
    yield* write(fs, temporary, encoder.encode(JsonlCodec.encodeHeader(header) + JsonlCodec.encode(entries)))
    const backup = yield* keep(fs, file)
    yield* fs.rename(temporary, file)
    // Windows opens no folders, and keeps their entries in its own journal.
    if (path.sep !== "\\") yield* sync(fs, path.dirname(file))
    return backup
  }).pipe(Effect.mapError(storageFailed("repair", file)))

/** A second name for the file, the first of its kind that is free. */
const keep = (fs: FileSystem.FileSystem, file: string, number = 1): ReturnType<typeof fs.readFileString> => {
  const backup = `${file}.backup-${number}`
  return Effect.catchIf(Effect.as(fs.link(file, backup), backup), isTaken, () => keep(fs, file, number + 1))
}

const write = (fs: FileSystem.FileSystem, file: string, bytes: Uint8Array) =>
  Effect.scoped(
    Effect.gen(function* () {
      const opened = yield* fs.open(file, { flag: "wx", mode: 0o600 })
      yield* opened.writeAll(bytes)
      yield* opened.sync
    })
  )

const sync = (fs: FileSystem.FileSystem, folder: string) =>
  Effect.scoped(Effect.flatMap(fs.open(folder), (opened) => opened.sync))

/** The log goes first: without it there is no session, whatever else could not be deleted. */
export const remove = ({ fs, path }: Environment, file: string): Effect.Effect<void, PersistenceError> =>
  Effect.zipRight(fs.remove(file), fs.remove(path.dirname(file), { recursive: true, force: true })).pipe(
    Effect.mapError(storageFailed("delete", file))
  )
