/**
 * `Fs` on this machine, over `node:fs`.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { constants } from "node:fs"
import * as NodeFs from "node:fs/promises"
import * as Path from "node:path"
import { ChangeWitness } from "./ChangeWitness.ts"
import * as ContentVersion from "./ContentVersion.ts"
import { Fs, FsError } from "./Fs.ts"
import type { DirEntry, FileContent, FileType, FsTarget, WriteOptions, WriteResult } from "./Fs.ts"
import * as Canonical from "./FsLocal/Canonical.ts"
import * as Failure from "./FsLocal/Failure.ts"
import * as Locks from "./FsLocal/Locks.ts"
import * as Look from "./FsLocal/Look.ts"
import * as Read from "./FsLocal/Read.ts"
import * as Replace from "./FsLocal/Replace.ts"

export const make = (): Fs["Type"] => {
  const locks = Locks.make()

  const readBytes = (target: FsTarget, options?: { readonly maxBytes?: number }): Effect.Effect<FileContent, FsError> =>
    Effect.map(Read.all(target.targetKey, target.displayPath, options?.maxBytes), (bytes) => ({
      bytes,
      version: ContentVersion.of(bytes)
    }))

  return Fs.of({
    resolve: (path, { cwd }) => attempt(path, () => resolve(path, cwd)),

    stat: (target) =>
      Effect.map(statOf(target), (stat) => stat && { type: typeOf(stat), size: stat.size, mode: stat.mode & 0o7777 }),

    readBytes,

    streamBytes: (target) => Read.stream(target.targetKey, target.displayPath),

    listDir: (target) =>
      Effect.map(
        attempt(target.displayPath, () => NodeFs.readdir(target.targetKey, { withFileTypes: true })),
        (entries) => entries.map(entryOf).sort((a, b) => (a.name < b.name ? -1 : 1))
      ),

    write: (target, bytes, options = {}) => locks.withLock(target.targetKey)(commit(target, bytes, options.expected)),

    modify: (target, change, options) =>
      Effect.gen(function* () {
        const current = yield* readBytes(target, options).pipe(
          Effect.catchIf(
            (error) => error.code === "FS_NOT_FOUND",
            () => Effect.succeed(undefined)
          )
        )
        const { value, bytes } = yield* change(current)
        return { value, written: yield* commit(target, bytes, current?.version ?? "absent") }
      }).pipe(locks.withLock(target.targetKey))
  })
}

export const layer: Layer.Layer<Fs> = Layer.sync(Fs, make)

const attempt = <A>(path: string, run: () => Promise<A>): Effect.Effect<A, FsError> =>
  Effect.tryPromise({ try: run, catch: Failure.from(path) })

const resolve = async (path: string, cwd: string): Promise<FsTarget> => {
  const absolute = Canonical.absolute(path, cwd)
  const targetKey = await Canonical.canonical(absolute)
  // What `..` means after a link only the file system knows.
  const displayPath = absolute.split(Path.sep).includes("..") ? targetKey : Path.normalize(absolute)
  return { targetKey, displayPath }
}

const statOf = (target: FsTarget) =>
  attempt(target.displayPath, () => Look.stat(target.targetKey)).pipe(
    Effect.catchIf(
      (error) => error.code === "FS_NOT_FOUND",
      () => Effect.succeed(undefined)
    )
  )

const commit = Effect.fnUntraced(function* (
  target: FsTarget,
  bytes: Uint8Array,
  expected: WriteOptions["expected"]
): Effect.fn.Return<WriteResult, FsError> {
  const { targetKey: path, displayPath: name } = target
  const version = ContentVersion.of(bytes)
  const before = yield* statOf(target)
  if (before === undefined) {
    if (expected !== undefined && expected !== "absent") return yield* stale(name, "no longer exists")
    yield* witnessed(path, bytes, Replace.create(path, bytes, expected === undefined))
    return { operation: "create", version }
  }
  if (!before.isFile()) return yield* Read.notRegular(name, before.isDirectory())
  if (expected === "absent") {
    return yield* new FsError({
      code: "FS_NOT_OBSERVED",
      message: `${name} exists already; read it before replacing it`
    })
  }
  if (expected !== undefined && ContentVersion.of(yield* Read.all(path, name)) !== expected) {
    return yield* stale(name, "has changed")
  }
  // A rename asks the folder only; a file that is write-protected is meant to stay.
  yield* attempt(name, () => NodeFs.access(path, constants.W_OK))
  yield* witnessed(path, bytes, Replace.update(path, bytes, before))
  return { operation: "update", version }
})

const witnessed = <A, E>(path: string, bytes: Uint8Array, change: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(ChangeWitness, (witness) =>
    witness === undefined ? change : Effect.flatMap(witness.file(path, bytes), (over) => Effect.ensuring(change, over))
  )

const stale = (name: string, what: string) =>
  new FsError({ code: "FS_STALE_VERSION", message: `${name} ${what} since it was read; read it again` })

interface Kind {
  readonly isFile: () => boolean
  readonly isDirectory: () => boolean
}

const typeOf = (kind: Kind): FileType => (kind.isFile() ? "file" : kind.isDirectory() ? "directory" : "other")

const entryOf = (entry: Kind & { readonly name: string; readonly isSymbolicLink: () => boolean }): DirEntry => ({
  name: entry.name,
  type: entry.isSymbolicLink() ? "symlink" : typeOf(entry)
})
