/**
 * A `FileSystem` that does on the spot what takes some microseconds there: appending to an open file, and looking up, making, linking
 * and removing entries, short new files among them.
 *
 * Handing such a call to a thread and back takes twenty times as long as the call. An agent waits for ten of them before its first
 * request, and for two at every step. Reading, syncing and everything else stays asynchronous.
 */
import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Fs from "node:fs"

/** Longer texts take longer than handing them over; in characters. */
const short = 4096

/** Decorates the file system that is there. */
export const layer: Layer.Layer<FileSystem.FileSystem, never, FileSystem.FileSystem> = Layer.effect(
  FileSystem.FileSystem,
  Effect.map(FileSystem.FileSystem, (inner) => ({
    ...inner,
    exists: (path: string) =>
      onTheSpot(() => Fs.statSync(path, { throwIfNoEntry: false }) !== undefined, inner.exists(path)),
    link: (from: string, to: string) => onTheSpot(() => Fs.linkSync(from, to), inner.link(from, to)),
    makeDirectory: (path: string, options?: FileSystem.MakeDirectoryOptions) =>
      onTheSpot(() => void Fs.mkdirSync(path, options), inner.makeDirectory(path, options)),
    open: (path: string, options?: FileSystem.OpenFileOptions) =>
      Effect.map(inner.open(path, options), (file) => {
        // Any other file keeps a position of its own, which this would pass by.
        if (options?.flag?.startsWith("a") !== true) return file
        const descriptor = Number(file.fd)
        const writeAll = (bytes: Uint8Array) => append(path, descriptor, bytes)
        const stat = onTheSpot(
          () => infoOf(Fs.fstatSync(descriptor)),
          Effect.suspend(() => file.stat)
        )
        return Object.create(file, { stat: { value: stat }, writeAll: { value: writeAll } }) as FileSystem.File
      }),
    readDirectory: (path: string, options?: FileSystem.ReadDirectoryOptions) => {
      const thorough = inner.readDirectory(path, options)
      return options?.recursive === true ? thorough : onTheSpot(() => Fs.readdirSync(path), thorough)
    },
    remove: (path: string, options?: FileSystem.RemoveOptions) => {
      const thorough = inner.remove(path, options)
      return options?.recursive === true ? thorough : onTheSpot(() => Fs.unlinkSync(path), thorough)
    },
    writeFileString: (path: string, data: string, options?: FileSystem.WriteFileStringOptions) => {
      const thorough = inner.writeFileString(path, data, options)
      const isShortAndNew = data.length <= short && options?.flag === "wx"
      return isShortAndNew ? onTheSpot(() => create(path, data, options.mode), thorough) : thorough
    }
  }))
)

/** What fails is tried once more the thorough way, which can tell what is wrong. */
const onTheSpot = <A>(
  quick: () => A,
  thorough: Effect.Effect<A, PlatformError.PlatformError>
): Effect.Effect<A, PlatformError.PlatformError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(quick())
    } catch {
      return thorough
    }
  })

/** Of a regular file. */
const infoOf = (stat: Fs.Stats): FileSystem.File.Info => ({
  type: "File",
  mtime: Option.some(stat.mtime),
  atime: Option.some(stat.atime),
  birthtime: Option.some(stat.birthtime),
  dev: stat.dev,
  ino: Option.some(stat.ino),
  mode: stat.mode,
  nlink: Option.some(stat.nlink),
  uid: Option.some(stat.uid),
  gid: Option.some(stat.gid),
  rdev: Option.some(stat.rdev),
  size: FileSystem.Size(stat.size),
  blksize: Option.some(FileSystem.Size(stat.blksize)),
  blocks: Option.some(stat.blocks)
})

/** All of it or nothing. */
const create = (path: string, data: string, mode: number | undefined): void => {
  const descriptor = Fs.openSync(path, "wx", mode)
  try {
    Fs.writeFileSync(descriptor, data)
  } catch (error) {
    Fs.unlinkSync(path)
    throw error
  } finally {
    Fs.closeSync(descriptor)
  }
}

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
