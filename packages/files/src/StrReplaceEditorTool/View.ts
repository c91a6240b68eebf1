/**
 * The command `view`: a file with numbered lines, or what is in a folder.
 */
import * as Text from "@dsh/kernel/Text"
import { FsError } from "@dsh/world/Fs"
import type { DirEntry } from "@dsh/world/Fs"
import { ToolError } from "@dsh/tools/ToolError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { join } from "node:path"
import * as FileRegion from "../FileRegion.ts"
import * as FileTool from "../FileTool.ts"
import * as NameHint from "../NameHint.ts"
import * as TextFile from "../TextFile.ts"
import type { Done, Place } from "./Place.ts"

export const view = Effect.fnUntraced(function* (
  place: Place,
  range: ReadonlyArray<number> | undefined,
  maxOutputChars: number
): Effect.fn.Return<Done, FsError | ToolError> {
  const { fs, observed, session, target } = place
  const stat = yield* fs.stat(target)
  if (stat === undefined) {
    yield* observed.record(session, target.targetKey, "absent")
    const hint = yield* NameHint.of(fs, target)
    return yield* new FsError({ code: "FS_NOT_FOUND", message: `${target.displayPath} does not exist${hint}` })
  }
  if (stat.type === "directory") {
    if (range !== undefined) return yield* invalid("view_range is for files, and this is a folder; leave it out")
    return { text: clip(yield* folder(place), maxOutputChars) }
  }
  const content = yield* fs.readBytes(target, { maxBytes: FileTool.maxFileBytes })
  const file = yield* FileTool.opened(target, content)
  const lines = TextFile.textOf(file, file.units).split("\n")
  const [first, last] = yield* rangeOf(range, lines.length)
  yield* observed.record(session, target.targetKey, { version: content.version })
  const encoding = file.encoding === "utf-8" ? "" : `, encoded in ${file.encoding}`
  const header = `${target.displayPath} (${FileRegion.lineCount(lines.length)}${encoding}):`
  const rows = lines.slice(first - 1, last).map((line, i) => `${String(first + i).padStart(6)}  ${line}`)
  return {
    text: clip([header, ...rows].join("\n"), maxOutputChars),
    observed: { key: target.targetKey, version: content.version }
  }
})

/** The first and the last line to show. */
const rangeOf = (
  range: ReadonlyArray<number> | undefined,
  total: number
): Either.Either<readonly [first: number, last: number], ToolError> => {
  if (range === undefined) return Either.right([1, total])
  const [first, last] = range
  if (first === undefined || last === undefined || range.length !== 2) {
    return Either.left(invalid("view_range has to be two numbers, of the first line and of the last"))
  }
  const there = `the file has ${FileRegion.lineCount(total)}`
  if (first < 1 || first > total) {
    return Either.left(invalid(`view_range begins with ${first}, and ${there}; begin with 1 to ${total}`))
  }
  if (last === -1) return Either.right([first, total])
  if (last > total) return Either.left(invalid(`view_range ends with ${last}, and ${there}; -1 is its end`))
  if (last < first) return Either.left(invalid(`view_range ends with ${last}, before it begins with ${first}`))
  return Either.right([first, last])
}

const depth = 2

const folder = Effect.fnUntraced(function* ({ fs, target }: Place): Effect.fn.Return<string, FsError> {
  const rows: Array<readonly [path: string, row: string]> = []
  const list = (path: string, level: number): Effect.Effect<void, FsError> =>
    Effect.gen(function* () {
      const entries = yield* fs.listDir(yield* fs.resolve(path, { cwd: path }))
      for (const { name, type } of entries) {
        if (name.startsWith(".") || name === "node_modules" || name === "__pycache__") continue
        const place = join(path, name)
        rows.push([place, `${letters[type]}\t${place}`])
        // One that cannot be looked into is still there.
        if (type === "directory" && level < depth) yield* Effect.orElse(list(place, level + 1), () => Effect.void)
      }
    })
  yield* list(target.displayPath, 1)
  rows.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return [`${target.displayPath}, ${depth} levels deep:`, ...rows.map(([, row]) => row)].join("\n")
})

const letters: Readonly<Record<DirEntry["type"], string>> = { directory: "d", file: "f", other: "?", symlink: "?" }

const clip = (text: string, maxChars: number): string =>
  text.length <= maxChars
    ? text
    : `${Text.head(text, maxChars)}\n<response clipped> (${text.length - maxChars} more characters; view a part with view_range)`

const invalid = (message: string) => new ToolError({ code: "INVALID_ARGS", message })
