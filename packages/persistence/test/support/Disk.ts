/**
 * A real folder that is gone after the test, and a file system over it that can be told to fail.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import { SystemError } from "@effect/platform/Error"
import type { PlatformError } from "@effect/platform/Error"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { Context, Effect, Layer } from "effect"

export type Operation = "open" | "writeAll" | "sync" | "truncate" | "link" | "read"

/** What happens on the disk, and what is to go wrong there. */
export class Disk extends Context.Tag("test/Disk")<
  Disk,
  {
    readonly root: string
    /** Operations in the order they were made, with the file name they were made on. */
    readonly log: Array<string>
    /** How many bytes were read. */
    bytesRead: number
    /** Fails an operation; `partial` writes that many bytes first. */
    fault: (operation: Operation, path: string) => Fault | undefined
  }
>() {}

export interface Fault {
  readonly code: string
  readonly partial?: number
}

const failure = (operation: Operation, path: string, { code }: Fault): PlatformError =>
  new SystemError({
    module: "FileSystem",
    method: operation,
    reason: code === "EEXIST" ? "AlreadyExists" : "Unknown",
    pathOrDescriptor: path,
    description: `${code}: injected`,
    cause: Object.assign(new Error(code), { code })
  })

const tracked = (fs: FileSystem.FileSystem, disk: Disk["Type"]): FileSystem.FileSystem => {
  const attempt = <A>(operation: Operation, path: string, effect: Effect.Effect<A, PlatformError>) =>
    Effect.suspend(() => {
      const name = path.slice(disk.root.length + 1)
      disk.log.push(`${operation} ${name}`)
      const fault = disk.fault(operation, path)
      return fault === undefined ? effect : Effect.fail(failure(operation, path, fault))
    })

  const trackedFile = (file: FileSystem.File, path: string): FileSystem.File => ({
    [FileSystem.FileTypeId]: FileSystem.FileTypeId,
    fd: file.fd,
    stat: Effect.suspend(() => file.stat),
    seek: (offset, from) => file.seek(offset, from),
    sync: attempt(
      "sync",
      path,
      Effect.suspend(() => file.sync)
    ),
    read: (buffer) => file.read(buffer),
    readAlloc: (size) =>
      Effect.tap(attempt("read", path, file.readAlloc(size)), (bytes) => {
        if (bytes._tag === "Some") disk.bytesRead += bytes.value.length
      }),
    truncate: (length) => attempt("truncate", path, file.truncate(length)),
    write: (buffer) => file.write(buffer),
    writeAll: (buffer) =>
      Effect.suspend(() => {
        const fault = disk.fault("writeAll", path)
        return fault?.partial === undefined
          ? attempt("writeAll", path, file.writeAll(buffer))
          : Effect.andThen(
              file.writeAll(buffer.subarray(0, fault.partial)),
              Effect.fail(failure("writeAll", path, fault))
            )
      })
  })

  return {
    ...fs,
    open: (path, options) =>
      Effect.map(attempt("open", path, Effect.void).pipe(Effect.andThen(fs.open(path, options))), (file) =>
        trackedFile(file, path)
      ),
    link: (from, to) => attempt("link", to, fs.link(from, to)),
    readFile: (path) => Effect.tap(fs.readFile(path), (bytes) => void (disk.bytesRead += bytes.length))
  }
}

const Platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)

/** A folder of its own, gone when the Scope closes. */
const makeDisk = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const root = yield* fs.makeTempDirectoryScoped({ prefix: "dsh-persistence-" })
  const disk: Disk["Type"] = { root, log: [], bytesRead: 0, fault: () => undefined }
  return disk
})

export const layer: Layer.Layer<Disk | FileSystem.FileSystem | Path.Path> = Layer.scopedContext(
  Effect.gen(function* () {
    const disk = yield* Effect.orDie(makeDisk)
    const fs = tracked(yield* FileSystem.FileSystem, disk)
    return Context.make(Disk, disk).pipe(
      Context.add(FileSystem.FileSystem, fs),
      Context.add(Path.Path, yield* Path.Path)
    )
  })
).pipe(Layer.provide(Platform))
