/**
 * From the system's error numbers to the codes of the seam.
 */
import { FsError } from "../Fs.ts"
import type { FsErrorCode } from "../Fs.ts"

const failures: Readonly<Record<string, readonly [code: FsErrorCode, text: string]>> = {
  ENOENT: ["FS_NOT_FOUND", "does not exist"],
  ENOTDIR: ["FS_NOT_DIRECTORY", "leads through something that is not a directory"],
  EISDIR: ["FS_NOT_REGULAR_FILE", "is a directory, not a file"],
  EEXIST: ["FS_NOT_OBSERVED", "exists already; read it before replacing it"],
  ENXIO: ["FS_NOT_REGULAR_FILE", "is a device or socket, not a file"],
  EACCES: ["FS_PERMISSION_DENIED", "may not be accessed: permission denied"],
  EPERM: ["FS_PERMISSION_DENIED", "may not be accessed: operation not permitted"],
  EROFS: ["FS_PERMISSION_DENIED", "is on a read-only file system"],
  ELOOP: ["FS_IO_ERROR", "is a symbolic link that leads in a circle"],
  ENAMETOOLONG: ["FS_IO_ERROR", "is too long a name for this file system"],
  ENOSPC: ["FS_IO_ERROR", "could not be written: no space left on the device"],
  EDQUOT: ["FS_IO_ERROR", "could not be written: the disk quota is used up"],
  EMFILE: ["FS_IO_ERROR", "could not be opened: too many open files"],
  ERR_INVALID_ARG_VALUE: ["FS_IO_ERROR", "contains a NUL byte"]
}

export const errnoOf = (cause: unknown): string | undefined =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined

/** For `Effect.tryPromise`: whatever an operation on `path` threw, as an `FsError`. */
export const from =
  (path: string) =>
  (cause: unknown): FsError => {
    if (cause instanceof FsError) return cause
    const [code, text] = failures[errnoOf(cause) ?? ""] ?? ["FS_IO_ERROR", `could not be accessed: ${String(cause)}`]
    return new FsError({ code, message: `${path} ${text}`, cause })
  }
