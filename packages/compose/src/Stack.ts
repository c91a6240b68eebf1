/**
 * Stacks layers of patches over nothing: the rows that come out, where each comes from, and what could not be applied. Pure.
 */
import type { Place, Problem } from "./CompositionError.ts"
import { showPlace } from "./CompositionError.ts"
import * as Nearest from "@dsh/kernel/Nearest"
import type { Entry, PatchLayer, Row } from "./Row.ts"

/** A row where it ended up. */
export interface Placed extends Omit<Row, "group" | "line"> {
  /** Where it was inserted. */
  readonly origin: Place
  /** Where it was changed since, in order. */
  readonly patched: ReadonlyArray<Place>
  /** Where its configuration is written. */
  readonly configuredAt: Place
  /** The rows of a group. */
  readonly children: ReadonlyArray<Placed> | undefined
}

export interface Stacked {
  readonly rows: ReadonlyArray<Placed>
  /** What was skipped, one sentence each. */
  readonly notices: ReadonlyArray<string>
  readonly problems: ReadonlyArray<Problem>
}

interface Mutable extends Omit<Placed, "children" | "patched"> {
  patched: Array<Place>
  children: Array<Mutable> | undefined
}

export const stack = (layers: ReadonlyArray<PatchLayer>): Stacked => {
  const root: Array<Mutable> = []
  const byId = new Map<string, Mutable>()
  const notices: Array<string> = []
  const problems: Array<Problem> = []

  const place = (row: Row, source: string): Mutable => {
    const { group, line, ...own } = row
    const origin = { source, line }
    const placed: Mutable = { ...own, origin, configuredAt: origin, patched: [], children: undefined }
    const first = byId.get(row.id)
    if (first === undefined) byId.set(row.id, placed)
    else {
      problems.push({
        code: "DUPLICATE_ID",
        place: origin,
        row: row.id,
        reason: `has the id of a row in ${showPlace(first.origin)}`,
        remedy: `give it another id, or change that row with an entry { id: ${row.id}, … }`
      })
    }
    placed.children = group?.map((child) => place(child, source))
    return placed
  }

  const skip = (at: Place, reason: string): void => {
    notices.push(`${showPlace(at)}: ${reason}; the entry was skipped`)
  }

  const unknown = (id: string) => `there is no row "${id}"; ${Nearest.suggest(id, [...byId.keys()])}`

  const apply = (entry: Entry, source: string): void => {
    const at = { source, line: entry.line }
    if (entry.kind === "insert") {
      const target = entry.into === undefined ? undefined : byId.get(entry.into)
      if (entry.into !== undefined && target === undefined) return skip(at, unknown(entry.into))
      if (target !== undefined && target.children === undefined) {
        return skip(at, `row "${target.id}" is no group, so nothing can be inserted into it`)
      }
      const siblings = target?.children ?? root
      for (const row of entry.rows) siblings.push(place(row, source))
      if (target !== undefined && source !== target.origin.source) target.patched.push(at)
      return
    }
    const target = byId.get(entry.id)
    if (target === undefined) return skip(at, unknown(entry.id))
    if (entry.name !== undefined && entry.name !== target.name) {
      return skip(at, `row "${target.id}" is ${target.name ?? "a group"}, not ${entry.name}`)
    }
    Object.assign(target, entry.changes, "config" in entry.changes && { configuredAt: at })
    target.patched.push(at)
  }

  for (const { entries, source } of layers) for (const entry of entries) apply(entry, source)
  return { rows: root, notices, problems }
}
