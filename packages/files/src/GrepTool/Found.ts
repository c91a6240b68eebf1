/**
 * What `grep` found, put in order, and as text.
 */
import type { FoundLine } from "./MatchRecord.ts"

export interface Line {
  readonly path: string
  readonly lineNumber: number
  readonly line: string
  readonly context?: boolean
}

export interface FileCount {
  readonly path: string
  readonly count?: number
}

/** Files come as they are ready, and that is never twice the same. Lines of one file are in order. */
export const inOrder = <A extends { readonly path: string }>(found: ReadonlyArray<A>): ReadonlyArray<A> =>
  found.toSorted((a, b) => (a.path === b.path ? 0 : a.path < b.path ? -1 : 1))

export const lineOf = ({ isContext, line, lineNumber }: FoundLine, path: string): Line => ({
  path,
  lineNumber,
  line,
  ...(isContext && { context: true })
})

/** The lines before the match number `max` + 1. */
export const upTo = (lines: ReadonlyArray<Line>, max: number): ReadonlyArray<Line> => {
  let matches = 0
  for (const [i, line] of lines.entries()) {
    if (line.context === true || ++matches <= max) continue
    return lines.slice(0, i)
  }
  return lines
}

export const matchesIn = (lines: ReadonlyArray<Line>): number =>
  lines.reduce((count, { context }) => (context === true ? count : count + 1), 0)

/** Per file its path, then its lines; `--` where lines are left out between matches. */
export const text = (lines: ReadonlyArray<Line>): string => {
  const hasContext = lines.some(({ context }) => context === true)
  const rows: Array<string> = []
  let last: Line | undefined
  for (const line of lines) {
    if (last?.path !== line.path) rows.push(...(last === undefined ? [] : [""]), line.path)
    else if (hasContext && line.lineNumber > endOf(last) + 1) rows.push("--")
    rows.push(...rowsOf(line))
    last = line
  }
  return rows.join("\n")
}

const endOf = ({ line, lineNumber }: Line): number => lineNumber + line.split("\n").length - 1

/** A match over several lines is as many rows. */
const rowsOf = ({ context, line, lineNumber }: Line): ReadonlyArray<string> =>
  line.split("\n").map((row, i) => `Line ${lineNumber + i}${context === true ? "-" : ":"} ${row}`)

export const countText = (files: ReadonlyArray<FileCount>): string =>
  files.map(({ count, path }) => (count === undefined ? path : `${path}: ${count}`)).join("\n")
