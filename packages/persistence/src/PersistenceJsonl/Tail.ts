/**
 * The end of a log that was not written to its end. What does not make a record is cut off, so that the next one begins on a line of its
 * own, and kept beside the log.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import type { PersistenceError } from "../PersistenceError.ts"
import { storageFailed } from "./Failure.ts"

/** Cuts the file, whose content is `bytes`, to its first `size` bytes. Again is the same as once. */
export const cut = (
  fs: FileSystem.FileSystem,
  file: string,
  bytes: Uint8Array,
  size: number
): Effect.Effect<void, PersistenceError> =>
  Effect.gen(function* () {
    const aside = `${file}.torn-${size}`
    yield* write(fs, aside, bytes.subarray(size))
    yield* Effect.scoped(
      Effect.gen(function* () {
        const opened = yield* fs.open(file, { flag: "r+" })
        yield* opened.truncate(size)
        yield* opened.sync
      })
    )
    yield* Effect.logInfo(
      `${file} ended in an incomplete record; its ${bytes.length - size} bytes are kept in ${aside}`
    )
  }).pipe(Effect.mapError(storageFailed("cut the end of", file)))

const write = (fs: FileSystem.FileSystem, file: string, bytes: Uint8Array) =>
  Effect.scoped(
    Effect.gen(function* () {
      const opened = yield* fs.open(file, { flag: "w", mode: 0o600 })
      yield* opened.writeAll(bytes)
      yield* opened.sync
    })
  )
