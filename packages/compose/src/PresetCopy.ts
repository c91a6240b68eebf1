/**
 * Copies and removes presets: a preset of one's own begins as a copy of another.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import type { PlatformError } from "@effect/platform/Error"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Composing from "./CompositionError.ts"
import type { CompositionError } from "./CompositionError.ts"
import { idPattern, idRule, infoFile } from "./Preset.ts"
import type { Sources } from "./Presets.ts"
import * as Presets from "./Presets.ts"

/** What was taken on the way in each folder, so that a link that leads back is found. */
type Way = ReadonlyArray<string>

const refused = (source: string, reason: string, remedy: string) =>
  Composing.of({ code: "INVALID_PRESET", place: { source }, reason, remedy })

const failed = (source: string, what: string) => (cause: PlatformError) =>
  Composing.of(
    { code: "PRESET_IO", place: { source }, reason: `${what}: ${cause.message}`, remedy: "nothing was changed" },
    cause
  )

/** The folder of a preset of whatever origin, readable as a preset or not. Fails with `UNKNOWN_PRESET`. */
const folderOf = (sources: Sources, id: string) =>
  Effect.gen(function* () {
    if (Presets.isShipped(sources, id)) return `${yield* sources.shippedFolder}/${id}`
    const found = (yield* Presets.users(sources)).find((user) => user.id === id)
    return found === undefined ? yield* Presets.unknown(sources, id, { source: sources.userFolder }) : found.folder
  })

/** A name beside presets that no preset can have. */
const aside = (sources: Sources, id: string) =>
  Effect.map(Clock.currentTimeNanos, (now) => `${sources.userFolder}/.${id}.${process.pid}.${now}`)

/**
 * Copies a whole preset to the user's, for them alone to look at: links become what they lead to, and its name and its place in listings
 * are left out. Nothing is there before everything is. The folder of the copy.
 */
export const copy = (
  sources: Sources,
  from: string,
  to: string
): Effect.Effect<string, CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    if (!idPattern.test(to)) return yield* refused(to, "is no id of a preset", idRule)
    const folder = `${sources.userFolder}/${to}`
    if (Presets.isShipped(sources, to)) {
      return yield* refused(folder, `"${to}" is a preset of the product`, "choose another id")
    }
    const source = yield* folderOf(sources, from)
    const cannot = failed(folder, "the preset could not be copied")
    if (yield* Effect.mapError(fs.exists(folder), cannot)) {
      return yield* refused(
        folder,
        "it is there already",
        `remove it with "dsh preset remove ${to}", or choose another id`
      )
    }
    yield* Effect.mapError(fs.makeDirectory(sources.userFolder, { recursive: true, mode: 0o700 }), cannot)
    yield* Effect.acquireUseRelease(
      aside(sources, to),
      (temporary) =>
        Effect.gen(function* () {
          yield* copyFolder(source, temporary, [])
          yield* rename(`${temporary}/${infoFile}`, `${source}/${infoFile}`)
          yield* fs.rename(temporary, folder)
        }),
      (temporary, exit) =>
        Exit.isSuccess(exit) ? Effect.void : Effect.ignore(fs.remove(temporary, { recursive: true, force: true }))
    ).pipe(Effect.catchAll((error) => (error._tag === "CompositionError" ? error : cannot(error))))
    return folder
  })

const copyFolder = (
  from: string,
  to: string,
  way: Way
): Effect.Effect<void, PlatformError | CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const real = yield* fs.realPath(from)
    if (way.includes(real)) return yield* refused(from, "is a link that leads back to where it is", "remove the link")
    yield* fs.makeDirectory(to)
    yield* fs.chmod(to, 0o700)
    for (const name of yield* fs.readDirectory(from)) {
      const [source, target] = [`${from}/${name}`, `${to}/${name}`]
      const { type } = yield* fs.stat(source)
      if (type === "Directory") yield* copyFolder(source, target, [...way, real])
      else if (type === "File") {
        yield* fs.writeFile(target, yield* fs.readFile(source), { mode: 0o600 })
        yield* fs.chmod(target, 0o600)
      } else return yield* refused(source, "is neither a file nor a folder", "remove it")
    }
  })

/** A copy is not called what the original is called, and does not stand before it. */
const rename = (file: string, original: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    if (!(yield* fs.exists(file))) return
    const text = yield* fs.readFileString(file)
    const { without } = yield* Effect.promise(() => import("./PatchFile/Document.ts"))
    const rest = without(text, ["name", "order"])
    if (rest === undefined)
      return yield* refused(original, "the file is no YAML", "correct it first; nothing was copied")
    yield* fs.writeFileString(file, rest)
  })

/** Takes a preset of the user's away, at once for everybody who looks. Agents that are of it go on. */
export const remove = (sources: Sources, id: string): Effect.Effect<void, CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* removable(sources, id)
    const temporary = yield* aside(sources, id)
    yield* fs
      .rename(folder, temporary)
      .pipe(
        Effect.zipRight(fs.remove(temporary, { recursive: true })),
        Effect.mapError(failed(folder, "the preset could not be removed"))
      )
  })

/** The folder of a preset that may be removed. */
export const removable = (
  sources: Sources,
  id: string
): Effect.Effect<string, CompositionError, FileSystem.FileSystem> =>
  Presets.isShipped(sources, id)
    ? refused(
        `preset ${id}`,
        "is part of the product and stays",
        `copy it with "dsh preset copy ${id} TO" to change it`
      )
    : folderOf(sources, id)
