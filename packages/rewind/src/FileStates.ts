/**
 * What is at a path of this machine, as the log writes it.
 */
import { createHash } from "node:crypto"
import * as Fs from "node:fs"
import { join } from "node:path"
import type { FileState } from "./FileChange.ts"

/** Larger files are not even read to tell one content from another. */
const largestRead = 256 * 1024 * 1024
const pieceBytes = 1024 * 1024

export const absent: FileState = { kind: "absent" }

export const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

/** In pieces, for it may be large. Throws what `node:fs` throws. */
export const digestOf = (path: string): string => {
  const hash = createHash("sha256")
  const piece = Buffer.allocUnsafe(pieceBytes)
  const file = Fs.openSync(path, Fs.constants.O_RDONLY | Fs.constants.O_NONBLOCK)
  try {
    for (let n = Fs.readSync(file, piece); n > 0; n = Fs.readSync(file, piece)) hash.update(piece.subarray(0, n))
    return hash.digest("hex")
  } finally {
    Fs.closeSync(file)
  }
}

/** Undefined when nothing is there, and nothing can be. Does not follow a link. */
export const lstat = (path: string): Fs.Stats | undefined => {
  try {
    return Fs.lstatSync(path, { throwIfNoEntry: false })
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOTDIR") return undefined
    throw cause
  }
}

/** @param sha256 Of its content, where that is known. Throws what `node:fs` throws. */
export const of = (path: string, stat = lstat(path), sha256?: () => string): FileState => {
  if (stat === undefined) return absent
  const mode = stat.mode & 0o7777
  if (stat.isDirectory()) return { kind: "directory", mode }
  if (stat.isSymbolicLink()) return { kind: "symlink", target: Fs.readlinkSync(path) }
  if (!stat.isFile()) return { kind: "unknown", reason: "it is a device, pipe or socket" }
  if (stat.size > largestRead) return { kind: "unknown", reason: `it has ${stat.size} bytes` }
  return { kind: "file", sha256: sha256?.() ?? digestOf(path), size: stat.size, mode }
}

/** What nobody knows is like nothing. */
export const equal = (a: FileState, b: FileState): boolean => {
  switch (a.kind) {
    case "absent":
      return b.kind === "absent"
    case "file":
      return b.kind === "file" && a.sha256 === b.sha256 && a.mode === b.mode
    case "symlink":
      return b.kind === "symlink" && a.target === b.target
    case "directory":
      return b.kind === "directory" && a.mode === b.mode
    case "unknown":
      return false
  }
}

/** All paths below `path`, relative like it to `folder`; links are not followed. */
export const pathsBelow = (folder: string, path: string): ReadonlyArray<string> => {
  const entries = Fs.readdirSync(join(folder, path), { withFileTypes: true })
  return entries.flatMap((entry) => {
    const inner = `${path}/${entry.name}`
    return entry.isDirectory() ? [inner, ...pathsBelow(folder, inner)] : [inner]
  })
}
