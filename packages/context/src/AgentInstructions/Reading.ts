/**
 * Reads the instruction files of folders. One that cannot be read is not the end of a turn: it is as if nobody had looked.
 */
import type { ContentVersion } from "@dsh/world/ContentVersion"
import { Fs } from "@dsh/world/Fs"
import type { FsError } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { posix } from "node:path"
import type { Folder } from "./Places.ts"

export interface Found {
  readonly path: string
  /** Undefined when there is no such file, or nothing in it, or what another file of its folder says as well. */
  readonly content: { readonly text: string; readonly version: ContentVersion } | undefined
  /** The path of that other one. */
  readonly twin?: string
}

/** In the order of the folders, and in each of its names. */
export const readIn = (
  folders: ReadonlyArray<Folder>,
  maxBytes: number
): Effect.Effect<ReadonlyArray<Found>, never, Fs> =>
  Effect.map(
    Effect.forEach(folders, (folder) => readOne(folder, maxBytes)),
    (found) => found.flat()
  )

const readOne = ({ names, path: folder }: Folder, maxBytes: number) =>
  Effect.map(
    Effect.forEach(names, (name) => readFile(posix.join(folder, name), maxBytes)),
    (found) => unique(found.filter((one) => one !== undefined))
  )

const readFile = Effect.fnUntraced(function* (
  path: string,
  maxBytes: number
): Effect.fn.Return<Found | undefined, never, Fs> {
  const fs = yield* Fs
  // Most are not there, which is cheaper to find out than where they would be. One that is may be a link, and has to be resolved.
  const isThere = yield* Effect.either(fs.stat({ targetKey: path, displayPath: path }))
  if (Either.isRight(isThere) && isThere.right === undefined) return { path, content: undefined }
  return yield* fs.resolve(path, { cwd: "/" }).pipe(
    Effect.flatMap((target) => fs.readBytes(target, { maxBytes })),
    Effect.matchEffect({
      onSuccess: ({ bytes, version }) => {
        const text = decoder.decode(bytes)
        if (text.includes("\0")) return skipped(path, "it is no text")
        return Effect.succeed({ path, content: text.trim() === "" ? undefined : { text, version } })
      },
      onFailure: (error) =>
        isMissing(error) ? Effect.succeed({ path, content: undefined }) : skipped(path, error.message)
    })
  )
})

const decoder = new TextDecoder()

const isMissing = ({ code }: FsError): boolean => code === "FS_NOT_FOUND" || code === "FS_NOT_DIRECTORY"

const skipped = (path: string, why: string) =>
  Effect.as(Effect.logWarning(`the instructions in ${path} are left out: ${why}`), undefined)

/** Projects keep one text under several names; it is told under the first. */
const unique = (found: ReadonlyArray<Found>): ReadonlyArray<Found> => {
  const texts = new Map<string, string>()
  return found.map((one) => {
    const text = one.content?.text.trim()
    if (text === undefined) return one
    const twin = texts.get(text)
    if (twin !== undefined) return { path: one.path, content: undefined, twin }
    texts.set(text, one.path)
    return one
  })
}
