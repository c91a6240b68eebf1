/**
 * A file system that fails when it is told to, as a full, read-only or broken disk does. For chaos: everything else is real.
 */
import { SystemError } from "@effect/platform/Error"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"

/** What can be made to fail. `writeAll`, `sync` and `truncate` are those of an open file. */
export type Operation =
  | "chmod"
  | "link"
  | "makeDirectory"
  | "open"
  | "readFile"
  | "remove"
  | "rename"
  | "sync"
  | "truncate"
  | "writeAll"
  | "writeFileString"

export interface Fault {
  /** As of the operating system, like `ENOSPC`. */
  readonly code: string
  /** `writeAll` writes that many bytes before it fails. */
  readonly partial?: number
}

/** Asked before every operation. */
export type Faults = (operation: Operation, path: string) => Fault | undefined

/** `fs`, but for what `faults` makes fail. */
export const make = (fs: FileSystem.FileSystem, faults: Faults): FileSystem.FileSystem => {
  const attempt = <A>(operation: Operation, path: string, effect: Effect.Effect<A, PlatformError>) =>
    Effect.suspend(() => {
      const fault = faults(operation, path)
      return fault === undefined ? effect : Effect.fail(failure(operation, path, fault))
    })

  const file = (opened: FileSystem.File, path: string): FileSystem.File => {
    const writeAll = (bytes: Uint8Array) =>
      Effect.suspend(() => {
        const fault = faults("writeAll", path)
        if (fault === undefined) return opened.writeAll(bytes)
        const partial = opened.writeAll(bytes.subarray(0, fault.partial ?? 0))
        return Effect.zipRight(partial, Effect.fail(failure("writeAll", path, fault)))
      })
    const sync = attempt(
      "sync",
      path,
      Effect.suspend(() => opened.sync)
    )
    const truncate = (length?: FileSystem.SizeInput) => attempt("truncate", path, opened.truncate(length))
    return Object.create(opened, {
      sync: { value: sync },
      truncate: { value: truncate },
      writeAll: { value: writeAll }
    }) as FileSystem.File
  }

  return {
    ...fs,
    chmod: (path, mode) => attempt("chmod", path, fs.chmod(path, mode)),
    link: (from, to) => attempt("link", to, fs.link(from, to)),
    makeDirectory: (path, options) => attempt("makeDirectory", path, fs.makeDirectory(path, options)),
    open: (path, options) =>
      Effect.flatMap(attempt("open", path, Effect.void), () =>
        Effect.map(fs.open(path, options), (opened) => file(opened, path))
      ),
    readFile: (path) => attempt("readFile", path, fs.readFile(path)),
    readFileString: (path, encoding) => attempt("readFile", path, fs.readFileString(path, encoding)),
    remove: (path, options) => attempt("remove", path, fs.remove(path, options)),
    rename: (from, to) => attempt("rename", to, fs.rename(from, to)),
    writeFileString: (path, text, options) => attempt("writeFileString", path, fs.writeFileString(path, text, options))
  }
}

const reasons: Readonly<Record<string, SystemError["reason"]>> = { EACCES: "PermissionDenied", EBUSY: "Busy" }

const failure = (operation: Operation, path: string, { code }: Fault): PlatformError =>
  new SystemError({
    module: "FileSystem",
    method: operation,
    reason: reasons[code] ?? "Unknown",
    pathOrDescriptor: path,
    description: `${code}: injected`,
    cause: Object.assign(new Error(code), { code })
  })
