/**
 * Presets in a folder of folders.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { CompositionError } from "./CompositionError.ts"
import * as Composing from "./CompositionError.ts"
import * as PatchFile from "./PatchFile.ts"
import { idPattern, infoFile, rowsFile } from "./Preset.ts"
import type { Preset } from "./Preset.ts"

/** A folder that may be a preset. */
export interface Found {
  readonly id: string
  /** Absolute. */
  readonly folder: string
}

const Info = Schema.Struct({
  name: Schema.optional(Schema.NonEmptyString),
  description: Schema.optional(Schema.String),
  order: Schema.optional(Schema.Number),
  extends: Schema.optional(Schema.NonEmptyString)
})

/** What is in a folder of folders, each in order of names. Nothing when the root is not there. */
export const survey = (
  root: string
): Effect.Effect<
  {
    readonly folders: ReadonlyArray<Found>
    /** Folders whose names cannot be ids. Hidden ones are left out. */
    readonly unusable: ReadonlyArray<string>
  },
  never,
  FileSystem.FileSystem
> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const names = yield* Effect.orElseSucceed(fs.readDirectory(root), (): Array<string> => [])
    const folders: Array<Found> = []
    const unusable: Array<string> = []
    for (const id of names.sort()) {
      if (id.startsWith(".")) continue
      const folder = `${root}/${id}`
      const isFolder = yield* Effect.match(fs.stat(folder), {
        onFailure: () => false,
        onSuccess: ({ type }) => type === "Directory"
      })
      if (!isFolder) continue
      if (idPattern.test(id)) folders.push({ id, folder })
      else unusable.push(folder)
    }
    return { folders, unusable }
  })

export const list = (root: string): Effect.Effect<ReadonlyArray<Found>, never, FileSystem.FileSystem> =>
  Effect.map(survey(root), ({ folders }) => folders)

/** Changes whenever one of the files does. */
export const stamp = (folder: string): Effect.Effect<string, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const parts: Array<string> = []
    for (const file of [rowsFile, infoFile]) {
      const stat = yield* Effect.option(fs.stat(`${folder}/${file}`))
      parts.push(
        Option.match(stat, {
          onNone: () => "-",
          onSome: ({ mtime, size }) => `${Number(Option.getOrUndefined(mtime))}:${size}`
        })
      )
    }
    return parts.join(" ")
  })

/** Reads one. Fails with all that is wrong in its files. */
export const read = ({ folder, id }: Found): Effect.Effect<Preset, CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const info = yield* Effect.either(readInfo(`${folder}/${infoFile}`))
    const rows = yield* Effect.either(PatchFile.readRows(`${folder}/${rowsFile}`))
    const problems = [
      ...(Either.isLeft(info) ? info.left.problems : []),
      ...(Either.isLeft(rows) ? rows.left.problems : [])
    ]
    const broken = Composing.ofAll(problems)
    if (broken !== undefined) return yield* broken
    const { description, extends: base, extendsLine, name = id, order = 100 } = yield* info
    return { id, name, description, order, extends: base, extendsLine, rows: yield* rows }
  })

const readInfo = (file: string) =>
  Effect.gen(function* () {
    const { data, lineOf } = (yield* PatchFile.readData(file)) ?? { data: {}, lineOf: () => undefined }
    const info = Schema.decodeUnknownEither(Info, { onExcessProperty: "error" })(data ?? {})
    if (Either.isRight(info)) return { ...info.right, extendsLine: lineOf(["extends"]) }
    const [issue] = ParseResult.ArrayFormatter.formatErrorSync(info.left)
    return yield* Composing.of({
      code: "INVALID_PRESET",
      place: { source: file, line: lineOf(issue?.path.map(String) ?? []) },
      reason: `${issue?.path.join(".") || "it"} does not fit: ${issue?.message ?? info.left.message}`,
      remedy: "a preset has name, description, order and extends"
    })
  })
