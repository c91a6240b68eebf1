/**
 * The vocabulary of a composition: rows, and patches that add and change them.
 */
import type { Dynamic } from "./Dynamic.ts"

/** One part of a composition: a plugin with its configuration, or a group of rows. */
export interface Row {
  /** Unique in the whole composition, and stable: patches name it. */
  readonly id: string
  /** The plugin. A group has none. */
  readonly name?: string | undefined
  /** May hold dynamic values. */
  readonly config?: unknown
  readonly disabled?: boolean | Dynamic | undefined
  /** Rows that are switched off with it. */
  readonly group?: ReadonlyArray<Row> | undefined
  /** What the rows of the group provide is theirs alone. */
  readonly isolate?: boolean | undefined
  /** Where it is written. Counts from 1. */
  readonly line?: number | undefined
}

/** The keys of a row that an entry may overwrite. */
export type Changes = Partial<Pick<Row, "config" | "disabled" | "isolate">>

export type Entry =
  /** Appends rows: to a group, or to the root. */
  | {
      readonly kind: "insert"
      readonly into?: string | undefined
      readonly rows: ReadonlyArray<Row>
      readonly line?: number | undefined
    }
  /** Overwrites keys of a row. The name, where it is given, has to be the row's. */
  | {
      readonly kind: "change"
      readonly id: string
      readonly name?: string | undefined
      readonly changes: Changes
      readonly line?: number | undefined
    }

/** Entries of one origin. Later layers see what earlier ones made. */
export interface PatchLayer {
  /** A file by its absolute path, or what else it is: `bundle base`. */
  readonly source: string
  readonly entries: ReadonlyArray<Entry>
}

/** A layer of rows. */
export const rows = (source: string, rows: ReadonlyArray<Row>): PatchLayer => ({
  source,
  entries: [{ kind: "insert", rows }]
})
