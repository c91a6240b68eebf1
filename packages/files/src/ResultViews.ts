/**
 * How results of the file tools are shown to people, from what was logged with them.
 */
import type { Json, JsonObject } from "@dsh/kernel/Json"
import * as Text from "@dsh/kernel/Text"
import type { FileDiff, FoundPlace, ResultView } from "@dsh/tools/Presentation"
import { member } from "./Meta.ts"

const contextLines = 3
// A diff is for looking at; beyond this nobody does, and the log has to carry it.
const maxDiffUnits = 16 * 1024
// The same goes for what a search found.
const maxSearchBytes = 64 * 1024

/** The part of a file that a change touches, with some lines around it. Nothing when that is too much to look at. */
export const diffMeta = (path: string, before: string | null, after: string): JsonObject => {
  const diff = changed(path, before, after)
  return (diff.oldText?.length ?? 0) + diff.newText.length > maxDiffUnits ? {} : { diff: { ...diff } }
}

const changed = (path: string, before: string | null, after: string): FileDiff => {
  if (before === null) return { path, oldText: null, newText: after }
  const [old, now] = [before.split("\n"), after.split("\n")]
  const length = Math.min(old.length, now.length)
  let head = 0
  while (head < length && old[head] === now[head]) head++
  let tail = 0
  while (tail < length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const from = Math.max(0, head - contextLines)
  const left = Math.max(0, tail - contextLines)
  const part = (lines: ReadonlyArray<string>) => lines.slice(from, lines.length - left).join("\n")
  return { path, oldText: part(old), newText: part(now) }
}

export const diff = (meta: Json | undefined): ResultView | undefined => {
  const logged = member(meta, "diff")
  const [path, oldText, newText] = ["path", "oldText", "newText"].map((name) => member(logged, name))
  if (typeof path !== "string" || typeof newText !== "string") return undefined
  if (typeof oldText !== "string" && oldText !== null) return undefined
  return { view: "diff", diffs: [{ path, oldText, newText }] }
}

export const read = (meta: Json | undefined): ResultView | undefined => {
  const logged = member(meta, "read")
  const [path, offset, lines, totalLines] = ["path", "offset", "lines", "totalLines"].map((name) =>
    member(logged, name)
  )
  if (typeof path !== "string" || typeof offset !== "number") return undefined
  if (typeof lines !== "number" || typeof totalLines !== "number") return undefined
  return { view: "read", path, offset, lines, totalLines }
}

interface Found {
  readonly path: string
  readonly lineNumber?: number
  readonly line?: string
}

interface FoundPlaces {
  readonly found: ReadonlyArray<Found>
  /** How many there are, shown or not. */
  readonly total: number
  readonly isPartial: boolean
}

/** As many of the places as the log should carry. */
export const searchMeta = ({ found, isPartial, total }: FoundPlaces): JsonObject => {
  let bytes = 0
  const kept: Array<JsonObject> = []
  for (const { line, lineNumber, path } of found) {
    const place = {
      path,
      ...(lineNumber !== undefined && { line: lineNumber }),
      ...(line !== undefined && { text: line })
    }
    // With room for the names of its members.
    bytes += Text.byteLength(path) + Text.byteLength(line ?? "") * 2 + 64
    if (bytes > maxSearchBytes) break
    kept.push(place)
  }
  return { found: kept, total, truncated: isPartial || kept.length < total }
}

export const search = (meta: Json | undefined): ResultView | undefined => {
  const logged = member(meta, "search")
  const [found, total, truncated] = ["found", "total", "truncated"].map((name) => member(logged, name))
  if (!Array.isArray(found) || typeof total !== "number" || typeof truncated !== "boolean") return undefined
  return { view: "search", found: found.flatMap(placeOf), total, truncated }
}

const placeOf = (logged: Json): ReadonlyArray<FoundPlace> => {
  const [path, line, text] = ["path", "line", "text"].map((name) => member(logged, name))
  if (typeof path !== "string") return []
  return [{ path, ...(typeof line === "number" && { line }), ...(typeof text === "string" && { text }) }]
}
