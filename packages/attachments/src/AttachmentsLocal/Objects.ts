/**
 * Files named by the hash of what is in them: written once, never changed, never removed.
 */
import * as Effect from "effect/Effect"
import { createHash, randomBytes } from "node:crypto"
import * as Fs from "node:fs/promises"
import { dirname, join } from "node:path"
import { AttachmentError, isId } from "../Attachments.ts"

export const idOf = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`

const pathOf = (root: string, id: string): string => {
  const hash = id.slice("sha256:".length)
  return join(root, "v1", "objects", hash.slice(0, 2), hash)
}

/** Nobody but the user may read it, and it is on the disk when this is done. */
export const write = (root: string, bytes: Uint8Array): Effect.Effect<string, AttachmentError> =>
  Effect.uninterruptible(
    Effect.tryPromise({
      try: async () => {
        const id = idOf(bytes)
        const path = pathOf(root, id)
        if (await isThere(path, bytes)) return id
        await Fs.mkdir(dirname(path), { recursive: true, mode: 0o700 })
        const partial = `${path}.${randomBytes(6).toString("hex")}`
        try {
          await put(partial, bytes)
          await Fs.rename(partial, path)
        } catch (cause) {
          await Fs.rm(partial, { force: true })
          throw cause
        }
        await sync(dirname(path))
        return id
      },
      catch: (cause) =>
        new AttachmentError({
          code: "ATTACHMENT_WRITE_FAILED",
          message: `the image could not be kept in ${root}: ${reasonOf(cause)}`,
          cause
        })
    })
  )

export const read = (root: string, id: string): Effect.Effect<Uint8Array, AttachmentError> =>
  Effect.gen(function* () {
    if (!isId(id)) {
      const message = `"${id}" is no reference to an image: those are sha256: and 64 digits`
      return yield* new AttachmentError({ code: "INVALID_ATTACHMENT_REF", message })
    }
    const bytes = yield* Effect.tryPromise({
      try: (signal) => Fs.readFile(pathOf(root, id), { signal }),
      catch: (cause) =>
        new AttachmentError({
          code: isMissing(cause) ? "ATTACHMENT_NOT_FOUND" : "ATTACHMENT_READ_FAILED",
          message: `the image ${id} ${isMissing(cause) ? "is not" : "could not be read"} in ${root}: ${reasonOf(cause)}`,
          cause
        })
    })
    if (idOf(bytes) === id) return bytes
    const message = `the image ${id} in ${root} is damaged: its content is another one`
    return yield* new AttachmentError({ code: "ATTACHMENT_CORRUPT", message })
  })

/** A file that is damaged is written again. */
const isThere = async (path: string, bytes: Uint8Array): Promise<boolean> => {
  try {
    return (await Fs.readFile(path)).equals(bytes)
  } catch {
    return false
  }
}

const put = async (path: string, bytes: Uint8Array): Promise<void> => {
  const handle = await Fs.open(path, "wx", 0o600)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const sync = async (folder: string): Promise<void> => {
  const handle = await Fs.open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const isMissing = (cause: unknown): boolean => cause instanceof Error && "code" in cause && cause.code === "ENOENT"

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
