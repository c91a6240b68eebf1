/**
 * Edits of an open file: the requests in the file's own encoding, applied to its bytes one after the other.
 */
import { FsError } from "@dsh/world/Fs"
import type { FsTarget, Modification } from "@dsh/world/Fs"
import * as Either from "effect/Either"
import * as EditMatch from "../EditMatch.ts"
import type { EditRefused, Plan, Request } from "../EditMatch.ts"
import * as FileRegion from "../FileRegion.ts"
import * as FileTool from "../FileTool.ts"
import * as TextFile from "../TextFile.ts"
import * as Requests from "./Requests.ts"

export interface Edited {
  /** Null when too large to be shown. */
  readonly before: string | null
  readonly after: string | null
  /** Of each replacement, at the moment when it was made. */
  readonly lines: ReadonlyArray<number>
  readonly tolerant: boolean
}

/** All of the edits or none. */
export const edit = (
  target: FsTarget,
  file: TextFile.TextFile,
  { list, nameOf }: Requests.Requests
): Either.Either<Modification<Edited>, EditRefused | FsError> =>
  Either.gen(function* () {
    const lines: Array<number> = []
    let tolerant = false
    let units = file.units
    for (const [i, request] of list.entries()) {
      const name = nameOf(i)
      const plan = yield* Either.mapLeft(step(target, { ...file, units }, request), (error) => ofEdit(error, name))
      lines.push(...plan.lines)
      tolerant ||= plan.tolerant
      units = EditMatch.apply(units, plan)
    }
    const shown = (text: string) => (text.length < FileTool.maxDiffBytes ? TextFile.textOf(file, text) : null)
    return {
      value: { before: shown(file.units), after: shown(units), lines, tolerant },
      bytes: TextFile.bytesOf(file, units)
    }
  })

const step = (
  target: FsTarget,
  file: TextFile.TextFile,
  request: Request
): Either.Either<Plan, EditRefused | FsError> =>
  Either.gen(function* () {
    yield* FileTool.writable(target, file, request.newText)
    const units = {
      ...request,
      oldText: TextFile.unitsOf(file, request.oldText),
      newText: TextFile.unitsOf(file, request.newText)
    }
    const plan = yield* Either.mapLeft(EditMatch.plan(file.units, units), (refused) =>
      explained(refused, target, file, request)
    )
    yield* FileTool.whole(target, file, plan.starts)
    return plan
  })

const ofEdit = (error: EditRefused | FsError, name: string): EditRefused | FsError => {
  const message = Requests.unmade(name, error.message)
  return error._tag === "FsError"
    ? new FsError({ code: error.code, message })
    : new EditMatch.EditRefused({ code: error.code, message })
}

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
