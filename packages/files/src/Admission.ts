/**
 * Whether a session may change a part of a file: only if it has seen the content that is there now. What stands in the way is
 * remembered, so that the answer to it is an informed one.
 */
import type { Session } from "@dsh/session/Session"
import { FsError } from "@dsh/world/Fs"
import type { FileContent, Fs, FsTarget } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import * as FileRegion from "./FileRegion.ts"
import * as FileTool from "./FileTool.ts"
import * as NameHint from "./NameHint.ts"
import type { ObservedFiles } from "./ObservedFiles.ts"
import * as TextFile from "./TextFile.ts"

export interface Asking {
  readonly fs: Fs["Type"]
  readonly observed: ObservedFiles["Type"]
  readonly session: Session | undefined
  readonly target: FsTarget
  /** The texts that are to be changed: where they would be is shown if the file has changed. */
  readonly wanted: ReadonlyArray<string>
}

/** The file to change. Fails with `FS_NOT_FOUND`, `FS_NOT_OBSERVED`, `FS_STALE_VERSION` or `FS_NOT_TEXT`. */
export const admit = Effect.fnUntraced(function* (
  { fs, observed, session, target, wanted }: Asking,
  current: FileContent | undefined
): Effect.fn.Return<TextFile.TextFile, FsError> {
  const key = target.targetKey
  if (current === undefined) {
    yield* observed.record(session, key, "absent")
    return yield* missing(target, yield* NameHint.of(fs, target))
  }
  const seen = yield* observed.lookup(session, key)
  if (seen === undefined || seen === "absent") return yield* unread(target)
  const file = yield* FileTool.opened(target, current)
  if (seen.version === current.version) return file
  // The answer shows how things stand.
  yield* observed.record(session, key, { version: current.version })
  return yield* stale(target, file, wanted)
})

const missing = ({ displayPath }: FsTarget, hint: string): FsError =>
  new FsError({ code: "FS_NOT_FOUND", message: `${displayPath} does not exist${hint}` })

const unread = ({ displayPath }: FsTarget): FsError =>
  new FsError({ code: "FS_NOT_OBSERVED", message: `read ${displayPath} before you edit it` })

const mostRegions = 5

const stale = ({ displayPath }: FsTarget, file: TextFile.TextFile, wanted: ReadonlyArray<string>): FsError => {
  const text = TextFile.textOf(file, file.units)
  const regions = new Set(wanted.flatMap((it) => FileRegion.around(text, it) ?? []))
  const shown = regions.size === 0 ? FileRegion.head(text) : [...regions].slice(0, mostRegions).join("\n…\n")
  return new FsError({
    code: "FS_STALE_VERSION",
    message: `${displayPath} has changed since you last saw it. It now reads:\n${shown}\nIf the edit still fits, repeat it; otherwise read the file again.`
  })
}
