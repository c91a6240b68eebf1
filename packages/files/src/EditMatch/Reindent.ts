/**
 * Carrying an indentation over: the model wrote its text with one indentation, the file has another, and what replaces the former
 * has to look like the latter.
 */

/** How one and the same line is indented. */
export interface Pair {
  readonly written: string
  readonly actual: string
}

export const indentOf = (line: string): string => /^[ \t]*/.exec(line)![0]

/** From an indentation as the model writes it to that of the file, learnt from lines that are in both. */
export const carry = (pairs: ReadonlyArray<Pair>): ((written: string) => string) => {
  const [first] = pairs
  if (first === undefined) return (written) => written
  const tab = tabWidth(pairs)
  const width = (indent: string) => columns(indent, tab)
  const byWidth = [...pairs].sort((a, b) => width(a.written) - width(b.written))
  const scale = scaleOf(byWidth, width)
  const usesTabs = pairs.some(({ actual }) => actual.includes("\t"))

  return (written) => {
    const same = pairs.find((pair) => pair.written === written)
    if (same !== undefined) return same.actual
    const nearest = byWidth.findLast((pair) => width(pair.written) <= width(written)) ?? byWidth[0] ?? first
    const change = Math.round((width(written) - width(nearest.written)) * scale)
    if (change < 0) return shorten(nearest.actual, -change, tab)
    return nearest.actual + (usesTabs ? "\t".repeat(change / tab) + " ".repeat(change % tab) : " ".repeat(change))
  }
}

// Where one side indents with spaces and the other with tabs, the lines say how many make a tab.
const tabWidth = (pairs: ReadonlyArray<Pair>): number => {
  for (const { actual, written } of pairs) {
    const [tabs, spaces] = actual.includes("\t") ? [actual, written] : [written, actual]
    if (/^\t+$/.test(tabs) && /^ +$/.test(spaces) && spaces.length % tabs.length === 0)
      return spaces.length / tabs.length
  }
  return 4
}

const columns = (indent: string, tab: number): number => {
  let width = 0
  for (const character of indent) width += character === "\t" ? tab : 1
  return width
}

// Two lines that are indented differently tell whether a level is as wide on both sides.
const scaleOf = (byWidth: ReadonlyArray<Pair>, width: (indent: string) => number): number => {
  const [least, most] = [byWidth[0], byWidth.at(-1)]
  if (least === undefined || most === undefined) return 1
  const scale = (width(most.actual) - width(least.actual)) / (width(most.written) - width(least.written))
  return Number.isFinite(scale) && scale > 0 ? scale : 1
}

const shorten = (indent: string, by: number, tab: number): string => {
  let kept = indent
  for (let left = by; left > 0 && kept !== ""; left -= columns(kept.slice(-1), tab), kept = kept.slice(0, -1)) {
    if (kept.endsWith("\t") && left < tab) return kept.slice(0, -1) + " ".repeat(tab - left)
  }
  return kept
}
