/**
 * From the plain data of a patch file to its entries, or to everything that is wrong with it.
 */
import type { Code, Problem } from "./CompositionError.ts"
import { isDynamic } from "./Dynamic.ts"
import * as Nearest from "@dsh/kernel/Nearest"
import type { Changes, Entry, Row } from "./Row.ts"

/** Where in the data: `[0, "insert", 2]`. */
export type Path = ReadonlyArray<string | number>

export interface Source {
  readonly name: string
  readonly lineOf: (path: Path) => number | undefined
}

export type Read = { readonly entries: ReadonlyArray<Entry>; readonly problems: ReadonlyArray<Problem> }

const rowKeys = ["id", "name", "config", "disabled", "group", "isolate"]
const entryKeys = [...rowKeys.filter((key) => key !== "group"), "insert"]
/** Keys that rows have in the edition this one descends from. */
const foreign = ["inject", "intercept", "when", "label"]

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isDynamic(value)

/** Reads one document. */
class Reader {
  readonly problems: Array<Problem> = []
  readonly source: Source

  constructor(source: Source) {
    this.source = source
  }

  private refuse(code: Code, path: Path, row: string | undefined, reason: string, remedy: string): void {
    this.problems.push({
      code,
      place: { source: this.source.name, line: this.source.lineOf(path) },
      row,
      reason,
      remedy
    })
  }

  entries(data: unknown): ReadonlyArray<Entry> {
    if (!Array.isArray(data)) {
      this.refuse(
        "INVALID_PATCH",
        [],
        undefined,
        "the file is no list of entries",
        'write "- " before each, or [] for none'
      )
      return []
    }
    return data.flatMap((item, i) => this.entry(item, [i]) ?? [])
  }

  rows(data: unknown, path: Path): ReadonlyArray<Row> {
    if (!Array.isArray(data)) {
      const what = String(path[path.length - 1] ?? "the file")
      this.refuse("INVALID_PATCH", path, undefined, `${what} is no list of rows`, 'write each row after "- "')
      return []
    }
    return data.flatMap((item, i) => this.row(item, [...path, i]) ?? [])
  }

  private entry(item: unknown, path: Path): Entry | undefined {
    const line = this.source.lineOf(path)
    if (!isMap(item)) {
      return this.noMap(path, "entry", "write { insert: [rows] }, or { id: ROW, config: … }")
    }
    const id = this.id(item, path, !("insert" in item))
    if (!this.keysFit(item, path, id, entryKeys)) return undefined
    if (!("insert" in item)) {
      if (id === undefined) return undefined
      return { kind: "change", id, name: this.name(item, path, id, false), changes: this.changes(item, path, id), line }
    }
    const extra = Object.keys(item).filter((key) => key !== "id" && key !== "insert")
    if (extra.length > 0) {
      this.refuse(
        "INVALID_PATCH",
        path,
        id,
        `is inserted into and changed (${extra.join(", ")}) by one entry`,
        "make two entries of it"
      )
      return undefined
    }
    return { kind: "insert", into: id, rows: this.rows(item["insert"], [...path, "insert"]), line }
  }

  private row(item: unknown, path: Path): Row | undefined {
    if (!isMap(item)) return this.noMap(path, "row", "write { id: …, name: … }")
    const id = this.id(item, path, true)
    if (!this.keysFit(item, path, id, rowKeys) || id === undefined) return undefined
    const line = this.source.lineOf(path)
    const changes = this.changes(item, path, id)
    if (!("group" in item)) {
      const name = this.name(item, path, id, true)
      return name === undefined ? undefined : { id, name, ...changes, line }
    }
    if ("name" in item || "config" in item) {
      this.refuse("INVALID_ROW", path, id, "is a group with a name or a config", "move them to a row of the group")
      return undefined
    }
    return { id, ...changes, group: this.rows(item["group"], [...path, "group"]), line }
  }

  private noMap(path: Path, what: "entry" | "row", remedy: string): undefined {
    this.refuse("INVALID_PATCH", path, undefined, `the ${what} is no map of keys`, remedy)
  }

  private id(item: Readonly<Record<string, unknown>>, path: Path, needed: boolean): string | undefined {
    const id = item["id"]
    if (id === undefined && !needed) return undefined
    if (typeof id === "string" && idPattern.test(id)) return id
    const reason = id === undefined ? "has no id" : `has the id ${JSON.stringify(id)}`
    const name = item["name"]
    const which = typeof name === "string" ? `the row of ${name}` : "an entry"
    this.refuse(
      "INVALID_ROW",
      path,
      undefined,
      `${which} ${reason}`,
      'give it one of letters, digits, ".", "_" and "-", for patches name rows by it'
    )
    return undefined
  }

  private name(item: Readonly<Record<string, unknown>>, path: Path, id: string, needed: boolean): string | undefined {
    const name = item["name"]
    if (name === undefined && !needed) return undefined
    if (typeof name === "string" && name.trim() !== "") return name
    const reason = name === undefined ? "names no plugin" : "has a name that is no text"
    this.refuse("INVALID_ROW", path, id, reason, 'add name: PLUGIN, for example name: "@dsh/shell/BashTool"')
    return undefined
  }

  private changes(item: Readonly<Record<string, unknown>>, path: Path, id: string): Changes {
    const { config, disabled, isolate } = item
    if (disabled !== undefined && typeof disabled !== "boolean" && !isDynamic(disabled)) {
      this.refuse(
        "INVALID_ROW",
        [...path, "disabled"],
        id,
        `is disabled: ${JSON.stringify(disabled)}`,
        "write true or false, !platform NAME or !env NAME"
      )
    }
    if (isolate !== undefined && typeof isolate !== "boolean") {
      this.refuse("INVALID_ROW", [...path, "isolate"], id, "has an isolate that is no switch", "write true or false")
    }
    if (config !== undefined && config !== null && !isMap(config)) {
      this.refuse(
        "INVALID_ROW",
        [...path, "config"],
        id,
        "has a config that is no map of options",
        "write config: { OPTION: VALUE }"
      )
    }
    return {
      ...("config" in item && { config: config ?? undefined }),
      ...((typeof disabled === "boolean" || isDynamic(disabled)) && { disabled }),
      ...(typeof isolate === "boolean" && { isolate })
    }
  }

  private keysFit(
    item: Readonly<Record<string, unknown>>,
    path: Path,
    id: string | undefined,
    known: ReadonlyArray<string>
  ): boolean {
    const unknown = Object.keys(item).filter((key) => !known.includes(key))
    for (const key of unknown) {
      const remedy = foreign.includes(key)
        ? "that key belongs to another edition; a plugin says itself what it needs"
        : Nearest.suggest(key, known)
      this.refuse("UNKNOWN_ROW_KEY", [...path, key], id, `has an unknown key "${key}"`, remedy)
    }
    return unknown.length === 0
  }
}

/** The entries of a patch file. */
export const readPatch = (data: unknown, source: Source): Read => {
  const reader = new Reader(source)
  return { entries: reader.entries(data), problems: reader.problems }
}

/** The rows of a preset. */
export const readRows = (
  data: unknown,
  source: Source
): { rows: ReadonlyArray<Row>; problems: ReadonlyArray<Problem> } => {
  const reader = new Reader(source)
  return { rows: reader.rows(data, []), problems: reader.problems }
}
