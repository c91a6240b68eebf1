/**
 * Contents of files, kept by their hash in a folder of the user's own. Below it:
 *
 *   objects/ab/cdef…   a content, as it is: sources are small, and a copy that shares its blocks costs nothing where there are such
 *   sessions/ID        the hashes that the log of a session names, one a line
 *   swept              when it was last cleared
 *
 * Nothing is ever changed in place, so processes need no lock: a content is written beside its place and renamed. Synchronous, because
 * callers decide how much they do at once.
 */
import { randomBytes } from "node:crypto"
import * as Fs from "node:fs"
import { dirname, join } from "node:path"
import { digest, digestOf } from "./FileStates.ts"
import * as Sweep from "./Snapshots/Sweep.ts"

export interface Limits {
  /** Of one file, in bytes. Larger ones are not kept. */
  readonly maxFileBytes: number
  /** Of all contents. Beyond it, those of the sessions that were not used for longest go first. */
  readonly maxBytes: number
}

export const defaults: Limits = { maxFileBytes: 8 * 1024 * 1024, maxBytes: 2 * 1024 * 1024 * 1024 }

export interface Snapshots {
  readonly root: string
  readonly limits: Limits
  /** Its hash. */
  readonly put: (bytes: Uint8Array) => string
  /** Of any size; its hash. */
  readonly putFile: (path: string) => string
  readonly has: (sha256: string) => boolean
  /** Undefined when it is not there, or damaged. */
  readonly get: (sha256: string) => Buffer | undefined
  /** Says that the session needs them. */
  readonly keep: (session: string, hashes: ReadonlyArray<string>) => void
  /** Removes what belongs to sessions that `exists` does not know, and what is too much. Default: all exist. */
  readonly sweep: (exists?: (session: string) => boolean) => Promise<void>
  /** Whether it is a day or more since the last one. */
  readonly isSweepDue: () => boolean
}

/** @param root Absolute. It is made when it is needed. */
export const make = (root: string, limits: Limits = defaults): Snapshots => {
  const pathOf = (sha256: string) => join(root, "objects", sha256.slice(0, 2), sha256.slice(2))

  const publish = (sha256: string, write: (partial: string) => void) => {
    const path = pathOf(sha256)
    if (Fs.existsSync(path)) {
      // As if it was new: who clears the store leaves what was put there a moment ago.
      const now = Date.now() / 1000
      Fs.utimesSync(path, now, now)
      return sha256
    }
    Fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const partial = `${path}.${randomBytes(6).toString("hex")}`
    try {
      write(partial)
      Fs.renameSync(partial, path)
    } catch (cause) {
      Fs.rmSync(partial, { force: true })
      throw cause
    }
    return sha256
  }

  const read = (sha256: string): Buffer | undefined => {
    try {
      const bytes = Fs.readFileSync(pathOf(sha256))
      return digest(bytes) === sha256 ? bytes : undefined
    } catch (cause) {
      if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined
      throw cause
    }
  }

  return {
    root,
    limits,
    put: (bytes) => publish(digest(bytes), (partial) => Fs.writeFileSync(partial, bytes, { mode: 0o600, flag: "wx" })),
    putFile: (path) =>
      publish(digestOf(path), (partial) => {
        Fs.copyFileSync(path, partial, Fs.constants.COPYFILE_FICLONE | Fs.constants.COPYFILE_EXCL)
        Fs.chmodSync(partial, 0o600)
      }),
    has: (sha256) => Fs.existsSync(pathOf(sha256)),
    get: read,
    keep: (session, hashes) => {
      if (hashes.length === 0) return
      const path = Sweep.referencesOf(root, session)
      Fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      Fs.appendFileSync(path, `${hashes.join("\n")}\n`, { mode: 0o600 })
    },
    sweep: (exists = () => true) => Sweep.run(root, limits.maxBytes, exists),
    isSweepDue: () => Sweep.isDue(root)
  }
}
