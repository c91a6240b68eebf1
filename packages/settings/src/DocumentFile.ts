/**
 * A file of settings that people write: read with the place of what is wrong in it, edited without touching what else they wrote.
 *
 * Who edits takes turns with other processes. The file is replaced as a whole or not at all, and one that does not parse is left alone.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as FileLock from "./DocumentFile/FileLock.ts"
import type { Document } from "./DocumentFile/Document.ts"
import * as Replace from "./DocumentFile/Replace.ts"
import { SettingsError, decode, show } from "./Settings.ts"
import type { Op, Path } from "./Settings.ts"

export type { Op } from "./Settings.ts"

const failed = (code: "SETTINGS_UNREADABLE" | "SETTINGS_UNWRITABLE", file: string) => (error: { message: string }) =>
  new SettingsError({
    code,
    file,
    reason: `cannot be ${code === "SETTINGS_UNREADABLE" ? "read" : "written"}: ${error.message}`
  })

const readText = (file: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const isThere = yield* fs.exists(file)
    return isThere ? yield* fs.readFileString(file) : undefined
  }).pipe(Effect.mapError(failed("SETTINGS_UNREADABLE", file)))

const parse = (file: string, text: string) =>
  // Loaded when there is something to read: most runs have no settings, and YAML takes longer to load than they do.
  Effect.flatMap(
    Effect.promise(() => import("./DocumentFile/Document.ts")),
    ({ read }) => Either.mapLeft(read(text), (fault) => new SettingsError({ code: "SETTINGS_INVALID", file, ...fault }))
  )

/** The document, if the file is there and may have something to say about `topic`. */
const open = (file: string, topic: string | undefined) =>
  Effect.flatMap(readText(file), (text) =>
    text === undefined || (topic !== undefined && !mentions(text, topic))
      ? Effect.succeed(undefined)
      : parse(file, text)
  )

/** A name that is not written there, and cannot be by way of escapes, is not set. */
const mentions = (text: string, name: string): boolean => text.includes(name) || text.includes("\\")

const decoded = <A, I>(file: string, document: Document, path: Path, schema: Schema.Schema<A, I>) => {
  const value = path.reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null ? at[key as keyof typeof at] : undefined),
    document.value
  )
  return Either.mapLeft(
    decode({ path, schema }, value),
    ({ path, reason }) =>
      new SettingsError({
        code: "SETTINGS_INVALID",
        file,
        ...document.placeOf(path),
        ...(path.length > 0 && { path: show(path) }),
        reason
      })
  )
}

/** The whole file by its schema; nothing when it is not there. */
export const read = <A, I>(
  file: string,
  schema: Schema.Schema<A, I>
): Effect.Effect<Option.Option<A>, SettingsError, FileSystem.FileSystem> =>
  Effect.flatMap(open(file, undefined), (document) =>
    document === undefined ? Effect.succeedNone : Effect.map(decoded(file, document, [], schema), Option.some)
  )

/** One section of it; nothing when it is not there. */
export const readSection = <A, I>(
  file: string,
  name: string,
  schema: Schema.Schema<A, I>
): Effect.Effect<Option.Option<A>, SettingsError, FileSystem.FileSystem> =>
  Effect.flatMap(open(file, name), (document) =>
    document === undefined || !(name in document.value)
      ? Effect.succeedNone
      : Effect.map(decoded(file, document, [name], schema), Option.some)
  )

/** What is written in a file; undefined when it is not there. */
export const text: (file: string) => Effect.Effect<string | undefined, SettingsError, FileSystem.FileSystem> = readText

/** Puts a text in the place of another. Fails with `SETTINGS_CONFLICT` when the file holds neither of the two. */
export const replace = (
  file: string,
  { from, to }: { readonly from: string | undefined; readonly to: string }
): Effect.Effect<void, SettingsError, FileSystem.FileSystem> =>
  exclusively(file, (target) =>
    Effect.gen(function* () {
      const now = yield* readText(target)
      if (now === from) return yield* Effect.mapError(Replace.text(target, to), failed("SETTINGS_UNWRITABLE", file))
      if (now === to) return
      const reason = "was changed by somebody else meanwhile"
      return yield* new SettingsError({ code: "SETTINGS_CONFLICT", file, reason })
    })
  )

/** All of a file as it is now; one that is not there is empty. */
export const snapshot = (file: string) =>
  Effect.gen(function* () {
    const text = (yield* readText(file)) ?? ""
    const empty = { value: {}, placeOf: () => ({}) }
    const { placeOf, value } = text === "" ? empty : yield* parse(file, text)
    return { file, values: value, placeOf, stamp: text }
  })

/**
 * Changes the file as `change` says, who is told what is in it; without a change it is not touched. It is made if it is not there.
 * Fails with `SETTINGS_LOCKED` when somebody else has been writing it for two seconds.
 */
export const edit = (
  file: string,
  change: (value: Document["value"]) => ReadonlyArray<Op>
): Effect.Effect<void, SettingsError, FileSystem.FileSystem> => revise(file, (value) => Either.right(change(value)))

/** The same for a change that may be refused. */
export const revise = (
  file: string,
  change: (value: Document["value"]) => Either.Either<ReadonlyArray<Op>, SettingsError>
): Effect.Effect<void, SettingsError, FileSystem.FileSystem> =>
  exclusively(file, (target) =>
    Effect.gen(function* () {
      const text = (yield* readText(target)) ?? ""
      const document = yield* parse(target, text)
      const ops = yield* change(document.value)
      if (ops.length === 0) return
      const edited = yield* Either.mapLeft(
        document.edited(ops, target.endsWith(".json")),
        (reason) => new SettingsError({ code: "SETTINGS_INVALID", file: target, reason: `cannot be edited: ${reason}` })
      )
      yield* Effect.mapError(Replace.text(target, edited), failed("SETTINGS_UNWRITABLE", file))
    })
  )

/** While nobody else writes the file. Its folder is there. */
const exclusively = <A>(
  file: string,
  use: (target: string) => Effect.Effect<A, SettingsError, FileSystem.FileSystem>
): Effect.Effect<A, SettingsError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    yield* Effect.mapError(
      fs.makeDirectory(Replace.folderOf(file), { recursive: true, mode: 0o700 }),
      failed("SETTINGS_UNWRITABLE", file)
    )
    // A link stays one: dotfiles are kept elsewhere.
    const target = yield* Effect.orElseSucceed(fs.realPath(file), () => file)
    return yield* FileLock.holding(target)(use(target))
  })
