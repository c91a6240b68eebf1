/**
 * A file that is replaced as a whole or not at all, and that nobody but its owner may read.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"

export const folderOf = (file: string): string => file.replace(/[\\/][^\\/]*$/, "")

/** @param file Absolute, and no link. */
export const text = (file: string, content: string): Effect.Effect<void, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const partial = `${file}.${globalThis.crypto.randomUUID().slice(0, 8)}.tmp`
    yield* fs.writeFileString(partial, content, { flag: "wx", mode: 0o600 }).pipe(
      Effect.zipRight(fs.rename(partial, file)),
      Effect.onError(() => Effect.ignore(fs.remove(partial, { force: true })))
    )
  })
