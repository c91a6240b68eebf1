/**
 * A change of one file as `git diff` writes it.
 */
import { structuredPatch } from "diff"
import type { FileState } from "../FileChange.ts"

interface Side {
  readonly state: FileState
  /** Undefined where it is not kept. */
  readonly bytes: Buffer | undefined
}

const context = 3
/** The comparison of larger texts could take for ever. */
const largest = 1024 * 1024

const nothing: Side = { state: { kind: "absent" }, bytes: undefined }

/** Empty where git sees no change: it knows no folders. */
export const of = (path: string, was: Side, is: Side): string => {
  const [before, after] = [withoutFolder(was), withoutFolder(is)]
  if (before.state.kind === "absent" && after.state.kind === "absent") return ""
  const kinds = new Set([before.state.kind, after.state.kind])
  // What becomes something else goes first, and comes then.
  if (kinds.has("file") && kinds.has("symlink")) return of(path, before, nothing) + of(path, nothing, after)
  const [old, now] = [named("a/", path), named("b/", path)]
  const lines = [`diff --git ${old} ${now}`, ...modes(before.state, after.state)]
  const [a, b] = [textOf(before), textOf(after)]
  if (a === undefined || b === undefined || a.length + b.length > largest) {
    lines.push(`Binary files ${from(before.state, old)} and ${from(after.state, now)} differ`)
    return `${lines.join("\n")}\n`
  }
  const { hunks } = structuredPatch("", "", a, b, undefined, undefined, { context })
  if (hunks.length > 0) lines.push(`--- ${from(before.state, old)}`, `+++ ${from(after.state, now)}`)
  for (const { lines: changed, newLines, newStart, oldLines, oldStart } of hunks) {
    lines.push(`@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`, ...changed)
  }
  return `${lines.join("\n")}\n`
}

const withoutFolder = (side: Side): Side => (side.state.kind === "directory" ? nothing : side)

const from = ({ kind }: FileState, name: string): string => (kind === "absent" ? "/dev/null" : name)

// Where nothing is, the line before it is named.
const range = (start: number, lines: number): string => {
  const first = lines === 0 && start > 0 ? start - 1 : start
  return lines === 1 ? `${first}` : `${first},${lines}`
}

const modes = (before: FileState, after: FileState): ReadonlyArray<string> => {
  const [old, now] = [modeOf(before), modeOf(after)]
  if (before.kind === "absent") return now === undefined ? [] : [`new file mode ${now}`]
  if (after.kind === "absent") return old === undefined ? [] : [`deleted file mode ${old}`]
  return old === now || old === undefined || now === undefined ? [] : [`old mode ${old}`, `new mode ${now}`]
}

const modeOf = (state: FileState): string | undefined => {
  switch (state.kind) {
    case "file":
      return `100${(state.mode & 0o777).toString(8).padStart(3, "0")}`
    case "symlink":
      return "120000"
    default:
      return undefined
  }
}

/** Undefined for what is no text, or not known. */
const textOf = ({ bytes, state }: Side): string | undefined => {
  if (state.kind === "absent") return ""
  if (state.kind === "symlink") return state.target
  if (state.kind !== "file" || bytes === undefined || bytes.includes(0)) return undefined
  const text = bytes.toString("utf8")
  return text.includes("\uFFFD") && !Buffer.from(text, "utf8").equals(bytes) ? undefined : text
}

/** Names that a reader of the patch could not tell from the rest of the line are quoted, as git does. */
const named = (side: string, path: string): string => {
  const name = `${side}${path}`
  return /["\\\p{Cc}]/u.test(name) ? JSON.stringify(name) : name
}
