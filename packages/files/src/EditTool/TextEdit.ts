/**
 * An edit of an open file: the request in the file's own encoding, applied to its bytes.
 */
import { FsError } from "@dsh/world/Fs"
import type { FsTarget, Modification } from "@dsh/world/Fs"
import * as Either from "effect/Either"
import * as EditMatch from "../EditMatch.ts"
import type { EditRefused, Request } from "../EditMatch.ts"
import * as FileRegion from "../FileRegion.ts"
import * as FileTool from "../FileTool.ts"
import * as TextFile from "../TextFile.ts"

export interface Edited {
  /** Null when too large to be shown. */
  readonly before: string | null
  readonly after: string | null
  readonly lines: ReadonlyArray<number>
  readonly tolerant: boolean
}

export const edit = (
  target: FsTarget,
  file: TextFile.TextFile,
  request: Request
): Either.Either<Modification<Edited>, EditRefused | FsError> =>
  Either.gen(function* () {
    const { encoding, units } = file
    yield* FileTool.writable(target, file, request.newText)
    const plan = yield* Either.mapLeft(
      EditMatch.plan(units, {
        ...request,
        oldText: TextFile.unitsOf(file, request.oldText),
        newText: TextFile.unitsOf(file, request.newText)
      }),
      (refused) => explained(refused, target, file, request)
    )
    if (encoding === "unknown" && plan.starts.some((start) => mayBeHalf(units, start))) {
      return yield* Either.left(halfCharacter(target))
    }
    const edited = EditMatch.apply(units, plan)
    const shown = (text: string) => (text.length < FileTool.maxDiffBytes ? TextFile.textOf(file, text) : null)
    return {
      value: { before: shown(units), after: shown(edited), lines: plan.lines, tolerant: plan.tolerant },
      bytes: TextFile.bytesOf(file, edited)
    }
  })

// In a double-byte encoding a byte that looks like ASCII may be the second half of a character.
const mayBeHalf = (units: string, start: number): boolean =>
  start > 0 && units.charCodeAt(start - 1) >= 0x80 && /[@-~]/.test(units.charAt(start))

const explained = (
  { code, message }: EditRefused,
  { displayPath }: FsTarget,
  file: TextFile.TextFile,
  { oldText }: Request
): EditRefused => {
  if (code !== "FS_EDIT_NOT_FOUND") return new EditMatch.EditRefused({ code, message: `${displayPath}: ${message}` })
  const closest = FileRegion.around(TextFile.textOf(file, file.units), oldText)
  const hint =
    file.encoding === "unknown" && oldText.includes("\uFFFD")
      ? "\uFFFD stands for bytes that are not valid UTF-8; choose an old_string without it"
      : closest === undefined
        ? "none of its longer lines do; read the file again"
        : `the closest part reads:\n${closest}`
  return new EditMatch.EditRefused({ code, message: `${displayPath}: ${message}; ${hint}` })
}

const halfCharacter = ({ displayPath }: FsTarget): FsError =>
  new FsError({
    code: "FS_NOT_TEXT",
    message: `${displayPath} is not valid UTF-8, and old_string begins right behind a byte that may belong to the same character; begin it elsewhere, at the start of the line for instance`
  })
