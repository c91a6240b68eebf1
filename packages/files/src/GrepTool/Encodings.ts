/**
 * In which older encodings files are that ripgrep cannot read as UTF-8.
 */
import { Fs } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import * as FileTool from "../FileTool.ts"
import * as TextFile from "../TextFile.ts"
import * as LegacyText from "@dsh/world/LegacyText"

/** Files in one encoding, few enough for a command line. */
export interface Group {
  readonly encoding: TextFile.Encoding
  readonly names: ReadonlyArray<string>
}

/** Each file is read as a whole, so there is a limit. */
const maxFiles = 500
const groupSize = 100

/** The files of `names` whose encoding is recognized, in their order, and how many were not looked at. */
export const groupsOf = Effect.fnUntraced(function* (
  root: string,
  names: ReadonlyArray<string>
): Effect.fn.Return<{ readonly groups: ReadonlyArray<Group>; readonly unread: number }, never, Fs> {
  const groups: Array<{ readonly encoding: TextFile.Encoding; readonly names: Array<string> }> = []
  for (const name of names.toSorted().slice(0, maxFiles)) {
    const encoding = yield* encodingOf(root, name)
    if (encoding === "unknown") continue
    const group = groups.findLast((it) => it.encoding === encoding)
    if (group === undefined || group.names.length === groupSize) groups.push({ encoding, names: [name] })
    else group.names.push(name)
  }
  return { groups, unread: Math.max(0, names.length - maxFiles) }
})

// A file that went away meanwhile or is too large stays what it is for ripgrep.
const encodingOf = (root: string, name: string): Effect.Effect<TextFile.Encoding, never, Fs> =>
  Effect.gen(function* () {
    const fs = yield* Fs
    const target = yield* fs.resolve(name, { cwd: root })
    const content = yield* fs.readBytes(target, { maxBytes: LegacyText.maxBytes })
    return (yield* FileTool.opened(target, content)).encoding
  }).pipe(Effect.orElseSucceed(() => "unknown" as const))
