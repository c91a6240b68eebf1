/**
 * `Fs` in memory: for tests, and for programs that have no disk or want to leave none of their files on it.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { posix } from "node:path"
import * as ContentVersion from "./ContentVersion.ts"
import { Fs, FsError } from "./Fs.ts"
import type { FileContent, FsErrorCode, FsStat, FsTarget, WriteOptions, WriteResult } from "./Fs.ts"
import * as Locks from "./FsLocal/Locks.ts"
import { MemoryFiles } from "./FsMemory/MemoryFiles.ts"

export { MemoryFiles } from "./FsMemory/MemoryFiles.ts"

const pieceBytes = 256 * 1024

/** A service over `files`, which others may share. */
export const make = (files: MemoryFiles = new MemoryFiles()): Fs["Type"] => {
  const locks = Locks.make()

  // Either, because what is looked at and then changed has to be done in one go.
  const find = (target: FsTarget) =>
    Either.mapLeft(files.find(target.targetKey), ({ code }) =>
      refusal(
        code,
        target,
        "leads nowhere any more: on its way is something that is not a directory, or a circle of links"
      )
    )

  const existing = (target: FsTarget) =>
    Either.flatMap(find(target), (node) =>
      node === undefined ? Either.left(refusal("FS_NOT_FOUND", target, "does not exist")) : Either.right(node)
    )

  const read = (target: FsTarget, maxBytes = Infinity) =>
    Either.flatMap(existing(target), (node) => {
      if (node.type === "directory") return Either.left(isFolder(target))
      return node.bytes.length > maxBytes
        ? Either.left(refusal("FS_TOO_LARGE", target, `is larger than ${maxBytes} bytes; work on a part of it`))
        : Either.right(node.bytes)
    })

  const commit = (target: FsTarget, bytes: Uint8Array, expected: WriteOptions["expected"]) =>
    Either.flatMap(find(target), (node): Either.Either<WriteResult, FsError> => {
      if (node?.type === "directory") return Either.left(isFolder(target))
      if (node !== undefined && expected === "absent") {
        return Either.left(refusal("FS_NOT_OBSERVED", target, "exists already; read it before replacing it"))
      }
      const isGuarded = expected !== undefined && expected !== "absent"
      if (isGuarded && (node === undefined || ContentVersion.of(node.bytes) !== expected)) {
        return Either.left(refusal("FS_STALE_VERSION", target, "has changed since it was read; read it again"))
      }
      const operation = node === undefined ? "create" : "update"
      const version = ContentVersion.of(bytes)
      return Either.map(files.put(target.targetKey, bytes), (): WriteResult => ({ operation, version }))
    })

  const readBytes = (target: FsTarget, options?: { readonly maxBytes?: number }): Effect.Effect<FileContent, FsError> =>
    Effect.suspend(() => Either.map(read(target, options?.maxBytes), contentOf))

  return Fs.of({
    resolve: (path, { cwd }) =>
      Effect.suspend(() => {
        const absolute = path.startsWith("/") ? path : `${cwd}/${path}`
        const displayed = absolute.split("/").includes("..") ? undefined : posix.normalize(absolute)
        return files
          .canonical(absolute)
          .pipe(Either.map((targetKey): FsTarget => ({ targetKey, displayPath: displayed ?? targetKey })))
      }),

    stat: (target) =>
      Effect.suspend(() =>
        Either.map(find(target), (node): FsStat | undefined => {
          if (node?.type === "directory") return { type: "directory", size: 0, mode: 0o755 }
          return node && { type: "file", size: node.bytes.length, mode: 0o644 }
        })
      ),

    readBytes,

    streamBytes: (target) =>
      Stream.unwrap(
        Effect.suspend(() =>
          Either.map(read(target), (bytes) => Stream.rechunk(Stream.fromIterable(piecesOf(bytes)), 1))
        )
      ),

    listDir: (target) =>
      Effect.suspend(() =>
        Either.flatMap(existing(target), (node) =>
          node.type === "file"
            ? Either.left(refusal("FS_NOT_DIRECTORY", target, "is a file, not a directory"))
            : Either.right(
                [...node.entries].map(([name, { type }]) => ({ name, type })).sort((a, b) => (a.name < b.name ? -1 : 1))
              )
        )
      ),

    write: (target, bytes, { expected } = {}) =>
      locks.withLock(target.targetKey)(Effect.suspend(() => commit(target, bytes, expected))),

    modify: (target, change, options) =>
      Effect.gen(function* () {
        const current = yield* readBytes(target, options).pipe(
          Effect.catchIf(
            (error) => error.code === "FS_NOT_FOUND",
            () => Effect.succeed(undefined)
          )
        )
        const { bytes, value } = yield* change(current)
        const written = yield* Effect.suspend(() => commit(target, bytes, current?.version ?? "absent"))
        return { value, written }
      }).pipe(locks.withLock(target.targetKey))
  })
}

/** Over files of its own, or over `files`. */
export const layer = (files?: MemoryFiles): Layer.Layer<Fs> => Layer.sync(Fs, () => make(files))

/** A copy, for whoever reads may do with it what they like. */
const contentOf = (bytes: Uint8Array): FileContent => ({
  bytes: Uint8Array.from(bytes),
  version: ContentVersion.of(bytes)
})

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.slice(at, at + pieceBytes)
}

const refusal = (code: FsErrorCode, { displayPath }: FsTarget, what: string): FsError =>
  new FsError({ code, message: `${displayPath} ${what}` })

const isFolder = (target: FsTarget): FsError => refusal("FS_NOT_REGULAR_FILE", target, "is a directory, not a file")
