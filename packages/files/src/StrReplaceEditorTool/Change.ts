/**
 * The commands that change files: `create`, `str_replace` and `insert`.
 */
import { FsError } from "@dsh/world/Fs"
import type { FileContent } from "@dsh/world/Fs"
import { ToolError } from "@dsh/tools/ToolError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Admission from "../Admission.ts"
import { EditRefused } from "../EditMatch.ts"
import * as FileRegion from "../FileRegion.ts"
import * as FileTool from "../FileTool.ts"
import * as TextFile from "../TextFile.ts"
import type { Done, Place } from "./Place.ts"

type Failed = FsError | EditRefused | ToolError

/** Never replaces anything. */
export const create = Effect.fnUntraced(function* (
  { fs, observed, session, target }: Place,
  content: string
): Effect.fn.Return<Done, FsError> {
  const written = Effect.catchIf(
    fs.write(target, Buffer.from(content, "utf8"), { expected: "absent" }),
    ({ code }) => code === "FS_NOT_OBSERVED",
    () =>
      new FsError({
        code: "FS_NOT_OBSERVED",
        message: `${target.displayPath} exists already; change it with str_replace`
      })
  )
  const { version } = yield* written
  yield* observed.record(session, target.targetKey, { version })
  return { text: `created ${target.displayPath}`, observed: { key: target.targetKey, version } }
})

export const replace = (place: Place, oldText: string, newText: string): Effect.Effect<Done, Failed> =>
  change(place, oldText, newText, (file) => {
    const [old, replacement] = [TextFile.unitsOf(file, oldText), TextFile.unitsOf(file, newText)]
    const starts = occurrences(file.units, old)
    const [start] = starts
    if (start === undefined) return Either.left(absent(place, file, oldText))
    if (starts.length > 1) {
      const lines = starts.map((at) => lineAt(file.units, at)).join(", ")
      const message = `${place.target.displayPath}: old_str occurs ${starts.length} times, at lines ${lines}; add surrounding lines to make it unique`
      return Either.left(new EditRefused({ code: "FS_AMBIGUOUS_EDIT", message }))
    }
    return Either.map(FileTool.whole(place.target, file, starts), () => ({
      units: file.units.slice(0, start) + replacement + file.units.slice(start + old.length),
      text: `edited ${place.target.displayPath} at line ${lineAt(file.units, start)}`
    }))
  })

/** After the line of that number; lines end there as the one before does. */
export const insert = (place: Place, after: number, text: string): Effect.Effect<Done, Failed> =>
  change(place, "", text, (file) => {
    const lines = file.units.split("\n")
    if (after < 0 || after > lines.length) {
      const message = `insert_line is ${after}, and the file has ${FileRegion.lineCount(lines.length)}; give 0 to ${lines.length}`
      return Either.left(new ToolError({ code: "INVALID_ARGS", message }))
    }
    const isAtEnd = after === lines.length
    const hasReturns = lines.at(isAtEnd ? Math.max(0, after - 2) : Math.max(0, after - 1))?.endsWith("\r") === true
    const ended = (line: string) => (hasReturns && !line.endsWith("\r") ? `${line}\r` : line)
    const added = TextFile.unitsOf(file, text).split("\n")
    const before = lines.slice(0, after)
    const all = isAtEnd
      ? [...before.map(ended), ...added.slice(0, -1).map(ended), ...added.slice(-1)]
      : [...before, ...added.map(ended), ...lines.slice(after)]
    return Either.right({
      units: all.join("\n"),
      text: `inserted ${FileRegion.lineCount(added.length)} into ${place.target.displayPath} after line ${after}`
    })
  })

interface Changed {
  readonly units: string
  readonly text: string
}

const change = Effect.fnUntraced(function* (
  place: Place,
  wanted: string,
  added: string,
  make: (file: TextFile.TextFile) => Either.Either<Changed, Failed>
): Effect.fn.Return<Done, Failed> {
  const { fs, observed, session, target } = place
  const edit = (current: FileContent | undefined) =>
    Effect.gen(function* () {
      const file = yield* Admission.admit({ ...place, wanted: [wanted] }, current)
      yield* FileTool.writable(target, file, added)
      const { text, units } = yield* make(file)
      return { value: text, bytes: TextFile.bytesOf(file, units) }
    })
  const { value, written } = yield* fs.modify(target, edit, { maxBytes: FileTool.maxFileBytes })
  yield* observed.record(session, target.targetKey, { version: written.version })
  return { text: value, observed: { key: target.targetKey, version: written.version } }
})

const absent = ({ target }: Place, file: TextFile.TextFile, oldText: string): EditRefused => {
  const closest = FileRegion.around(TextFile.textOf(file, file.units), oldText)
  const hint =
    !oldText.includes("\r") && file.units.includes("\r\n") && oldText.includes("\n")
      ? "lines of this file end with \\r\\n, and old_str has to have the same"
      : closest === undefined
        ? "view the file again"
        : `the closest part reads:\n${closest}`
  return new EditRefused({
    code: "FS_EDIT_NOT_FOUND",
    message: `${target.displayPath}: old_str does not occur in it; ${hint}`
  })
}

const occurrences = (text: string, needle: string): ReadonlyArray<number> => {
  const starts: Array<number> = []
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + 1)) starts.push(at)
  return starts
}

const lineAt = (text: string, at: number): number => text.slice(0, at).split("\n").length
