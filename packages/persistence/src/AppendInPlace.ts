/**
 * A `FileSystem` whose open files are written to on the spot.
 *
 * A write to the page cache takes some microseconds; handing it to a thread and back takes twenty times as long, and an agent waits
 * for two of them at every step. Reading, syncing and everything else stays asynchronous.
 */
import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Fs from "node:fs"

/** Decorates the file system that is there. */
export const layer: Layer.Layer<FileSystem.FileSystem, never, FileSystem.FileSystem> = Layer.effect(
  FileSystem.FileSystem,
  Effect.map(FileSystem.FileSystem, (inner) => ({
    ...inner,
    open: (path: string, options?: FileSystem.OpenFileOptions) =>
      Effect.map(inner.open(path, options), (file) => {
        // Any other file keeps a position of its own, which this would pass by.
        if (options?.flag?.startsWith("a") !== true) return file
        const writeAll = (bytes: Uint8Array) => append(path, Number(file.fd), bytes)
        return Object.create(file, { writeAll: { value: writeAll } }) as FileSystem.File
      })
  }))
)

const append = (
  path: string,
  descriptor: number,
  bytes: Uint8Array
): Effect.Effect<void, PlatformError.PlatformError> =>
  Effect.try({
    try: () => {
      for (let written = 0; written < bytes.length;) written += Fs.writeSync(descriptor, bytes, written)
    },
    catch: (cause) =>
      new PlatformError.SystemError({
        module: "FileSystem",
        method: "writeAll",
        reason: "Unknown",
        pathOrDescriptor: path,
        description: cause instanceof Error ? cause.message : String(cause),
        cause
      })
  })
