/**
 * Putting new content into a file so that nobody ever sees half of it, and so that what is not content stays as it was: permissions,
 * owner, hard links.
 *
 * Normally the content is staged in a private folder beside the target and then takes its name. Where that would cut a hard link or
 * change the owner, or the folder does not allow it, the file itself is overwritten.
 */
import * as Effect from "effect/Effect"
import { constants } from "node:fs"
import type { Stats } from "node:fs"
import * as NodeFs from "node:fs/promises"
import * as Path from "node:path"
import type { FsError } from "../Fs.ts"
import * as Failure from "./Failure.ts"

/** Fails with `FS_NOT_OBSERVED` if something has come into being at `path`, unless `clobber`. Makes parent folders. */
export const create = (path: string, bytes: Uint8Array, clobber: boolean): Effect.Effect<void, FsError> =>
  step(path, () => NodeFs.mkdir(Path.dirname(path), { recursive: true })).pipe(
    Effect.zipRight(
      staged(path, (file) =>
        step(path, () => stage(file, bytes)).pipe(
          Effect.zipRight(step(path, () => (clobber ? NodeFs.rename(file, path) : giveNewName(file, path))))
        )
      )
    )
  )

/** `before` describes the file that is replaced. */
export const update = (path: string, bytes: Uint8Array, before: Stats): Effect.Effect<void, FsError> => {
  const overwriting = step(path, () => overwrite(path, bytes))
  if (before.nlink > 1) return overwriting
  return staged(path, (file) =>
    step(path, () => stage(file, bytes, before)).pipe(Effect.zipRight(step(path, () => NodeFs.rename(file, path))))
  ).pipe(
    Effect.catchIf(
      (error) => error.code === "FS_PERMISSION_DENIED",
      () => overwriting
    )
  )
}

/** One step runs to its end; between two of them an interruption is welcome. */
const step = <A>(path: string, run: () => Promise<A>): Effect.Effect<A, FsError> =>
  Effect.uninterruptible(Effect.tryPromise({ try: run, catch: Failure.from(path) }))

const staged = (path: string, use: (file: string) => Effect.Effect<void, FsError>): Effect.Effect<void, FsError> =>
  Effect.acquireUseRelease(
    step(path, () => NodeFs.mkdtemp(Path.join(Path.dirname(path), ".dsh-write-"))),
    (folder) => use(Path.join(folder, "content")),
    (folder) => Effect.ignore(Effect.tryPromise(() => NodeFs.rm(folder, { recursive: true, force: true })))
  )

const stage = async (file: string, bytes: Uint8Array, before?: Stats): Promise<void> => {
  // A new file gets what the umask says; the folder around it keeps others out until it is published.
  const handle = await NodeFs.open(file, "wx", before === undefined ? 0o666 : 0o600)
  try {
    await handle.writeFile(bytes)
    if (before !== undefined) {
      const made = await handle.stat()
      if (made.uid !== before.uid || made.gid !== before.gid) await handle.chown(before.uid, before.gid)
      await handle.chmod(before.mode & 0o7777)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const linkless = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"])

// A link, unlike a rename, refuses to replace what somebody else has put there meanwhile.
const giveNewName = async (file: string, path: string): Promise<void> => {
  try {
    await NodeFs.link(file, path)
  } catch (cause) {
    if (!linkless.has(Failure.errnoOf(cause) ?? "")) throw cause
    await NodeFs.copyFile(file, path, constants.COPYFILE_EXCL)
  }
}

const overwrite = async (path: string, bytes: Uint8Array): Promise<void> => {
  const handle = await NodeFs.open(path, "r+")
  try {
    const before = await handle.readFile()
    try {
      await put(handle, bytes)
    } catch (cause) {
      await put(handle, before)
      throw cause
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const put = async (handle: NodeFs.FileHandle, bytes: Uint8Array): Promise<void> => {
  for (let at = 0; at < bytes.length;) {
    at += (await handle.write(bytes, at, bytes.length - at, at)).bytesWritten
  }
  await handle.truncate(bytes.length)
}
