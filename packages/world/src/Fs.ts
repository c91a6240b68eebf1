/**
 * The file system seam. It deals in bytes: text, encodings and line endings belong to the tools, so that what a tool does not
 * understand is never changed on the way.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { ContentVersion } from "./ContentVersion.ts"

export type FsErrorCode =
  | "FS_NOT_FOUND"
  | "FS_NOT_DIRECTORY"
  | "FS_NOT_TEXT"
  | "FS_NOT_REGULAR_FILE"
  | "FS_TOO_LARGE"
  | "FS_PERMISSION_DENIED"
  | "FS_SANDBOX_DENIED"
  | "FS_IO_ERROR"
  | "FS_STALE_VERSION"
  | "FS_NOT_OBSERVED"

export class FsError extends Data.TaggedError("FsError")<{
  readonly code: FsErrorCode
  readonly message: string
  readonly cause?: unknown
}> {}

/** A place in the file system, whether something is there or not. */
export interface FsTarget {
  /** The canonical path: two names of one file, through whatever symbolic links, have one key. */
  readonly targetKey: string
  /** Absolute, as the caller would write it: for people and models. */
  readonly displayPath: string
}

export type FileType = "file" | "directory" | "other"

export interface FsStat {
  readonly type: FileType
  /** Bytes. */
  readonly size: number
  /** Permission bits. */
  readonly mode: number
}

export interface FileContent {
  readonly bytes: Uint8Array
  readonly version: ContentVersion
}

export interface DirEntry {
  readonly name: string
  /** Of the entry itself; symbolic links are `symlink`. */
  readonly type: FileType | "symlink"
}

export interface WriteOptions {
  /**
   * What has to be there at the moment of writing. `absent`: nothing, or it fails with `FS_NOT_OBSERVED`. A version: that content,
   * or it fails with `FS_STALE_VERSION`. Left out: anything.
   */
  readonly expected?: "absent" | ContentVersion
}

export interface WriteResult {
  readonly operation: "create" | "update"
  readonly version: ContentVersion
}

/** The new content of a file, and a result of one's own. */
export interface Modification<A> {
  readonly value: A
  readonly bytes: Uint8Array
}

export interface Modified<A> {
  readonly value: A
  readonly written: WriteResult
}

export class Fs extends Context.Tag("@dsh/world/Fs")<
  Fs,
  {
    /** Takes absolute and relative paths; touches nothing. A dangling symbolic link resolves to where it points. */
    readonly resolve: (path: string, options: { readonly cwd: string }) => Effect.Effect<FsTarget, FsError>
    /** Undefined when nothing is there. */
    readonly stat: (target: FsTarget) => Effect.Effect<FsStat | undefined, FsError>
    /** The whole file; `FS_TOO_LARGE` beyond `maxBytes`, however large the file claims to be. */
    readonly readBytes: (
      target: FsTarget,
      options?: { readonly maxBytes?: number }
    ) => Effect.Effect<FileContent, FsError>
    /** The bytes from the beginning to the end, in pieces, for files of any size. */
    readonly streamBytes: (target: FsTarget) => Stream.Stream<Uint8Array, FsError>
    /** Sorted by name. */
    readonly listDir: (target: FsTarget) => Effect.Effect<ReadonlyArray<DirEntry>, FsError>
    /**
     * Replaces the content of a file or creates it, parent folders included. Readers see the old content or the new, nothing in
     * between; permissions, owner and links survive.
     */
    readonly write: (target: FsTarget, bytes: Uint8Array, options?: WriteOptions) => Effect.Effect<WriteResult, FsError>
    /**
     * Reads a file (undefined when there is none) and writes what `change` makes of it, with nobody else writing in between: calls on
     * one file take turns, and a change from outside in the meantime fails with `FS_STALE_VERSION`, or with `FS_NOT_OBSERVED` where
     * there was no file before. If `change` fails nothing happens.
     */
    readonly modify: <A, E>(
      target: FsTarget,
      change: (current: FileContent | undefined) => Effect.Effect<Modification<A>, E>,
      options?: { readonly maxBytes?: number }
    ) => Effect.Effect<Modified<A>, E | FsError>
  }
>() {}
