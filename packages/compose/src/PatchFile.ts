/**
 * Patch files: a list of entries in YAML, next to a profile, in the home folder, or named on the command line.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import type { CompositionError, Problem } from "./CompositionError.ts"
import * as Composition from "./CompositionError.ts"
import * as PatchData from "./PatchData.ts"
import type { PatchLayer, Row } from "./Row.ts"

/** What such a file is called in a folder. */
export const fileName = "dsh.patch.yml"

const problem = (code: Problem["code"], source: string, reason: string, remedy: string, line?: number): Problem => ({
  code,
  place: { source, line },
  reason,
  remedy
})

const text = (file: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    if (!(yield* fs.exists(file))) return undefined
    return yield* fs.readFileString(file)
  }).pipe(
    Effect.mapError((cause) =>
      Composition.of(
        problem(
          "PATCH_UNREADABLE",
          file,
          `the file cannot be read: ${cause.message}`,
          "make it readable, or remove it"
        ),
        cause
      )
    )
  )

/** The data of a file and where it stands. Loads the reader. */
const data = Effect.fnUntraced(function* (file: string, content: string) {
  const { parse } = yield* Effect.promise(() => import("./PatchFile/Document.ts"))
  const parsed = parse(content)
  if (parsed._tag === "Data") return parsed
  const { isDynamic, line, reason } = parsed.fault
  return yield* Composition.of(
    isDynamic
      ? problem("INVALID_DYNAMIC", file, reason, "configuration is data: write the value itself, or one of those", line)
      : problem("INVALID_YAML", file, `the file is no YAML: ${reason}`, "correct it there; nothing was changed", line)
  )
})

/** Whatever is in a file that may be missing, with the lines it stands on. */
export const readData = (file: string) =>
  Effect.flatMap(text(file), (content) => (content === undefined ? Effect.succeed(undefined) : data(file, content)))

/** The entries of a file that may be missing. */
export const readIfPresent = (
  file: string
): Effect.Effect<PatchLayer | undefined, CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const content = yield* text(file)
    if (content === undefined) return undefined
    const { data: written, lineOf } = yield* data(file, content)
    if (written === null || written === undefined) {
      return yield* Composition.of(
        problem("INVALID_PATCH", file, "the file is empty", "write [] when there is nothing to change, or remove it")
      )
    }
    const { entries, problems } = PatchData.readPatch(written, { name: file, lineOf })
    const error = Composition.ofAll(problems)
    return error === undefined ? { source: file, entries } : yield* error
  })

/** The entries of a file that was asked for. Fails with `PATCH_NOT_FOUND` when it is not there. */
export const read = (file: string): Effect.Effect<PatchLayer, CompositionError, FileSystem.FileSystem> =>
  Effect.flatMap(readIfPresent(file), (layer) =>
    layer === undefined
      ? Composition.of(problem("PATCH_NOT_FOUND", file, "there is no such file", "check the path after --patch"))
      : Effect.succeed(layer)
  )

/** The rows of a file that has to be there: those of a preset. */
export const readRows = (file: string): Effect.Effect<ReadonlyArray<Row>, CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const content = yield* text(file)
    if (content === undefined) {
      return yield* Composition.of(
        problem(
          "PATCH_NOT_FOUND",
          file,
          "there is no such file",
          "write the rows of the preset into it, or remove the folder"
        )
      )
    }
    const { data: written, lineOf } = yield* data(file, content)
    const { problems, rows } = PatchData.readRows(written ?? [], { name: file, lineOf })
    const error = Composition.ofAll(problems)
    return error === undefined ? rows : yield* error
  })
