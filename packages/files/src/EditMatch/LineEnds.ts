/**
 * Matching text without regard to how its lines end, and finding the way back.
 */

/** A text with every `\r\n` as `\n`, and the places where that was. */
export interface Normalized {
  readonly text: string
  /** Indexes into `text` of the line feeds that had a carriage return. */
  readonly returns: ReadonlyArray<number>
}

export const normalize = (original: string): Normalized => {
  if (!original.includes("\r\n")) return { text: original, returns: [] }
  const lines = original.split("\r\n")
  const returns: Array<number> = []
  let at = -1
  for (const line of lines.slice(0, -1)) returns.push((at += line.length + 1))
  return { text: lines.join("\n"), returns }
}

/** Where `index` of the normalized text is in the original; the index of a `\n` that had a `\r` is that of the `\r`. */
export const toOriginal = ({ returns }: Normalized, index: number): number => index + before(returns, index)

// How many of the ascending `values` are smaller than `limit`.
const before = (values: ReadonlyArray<number>, limit: number): number => {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (values[middle]! < limit) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * `replacement` for the range from `start` to `end`, with line ends as they are there: one after the other those of the range, and
 * beyond them the last one of the range, or the nearest in the file.
 */
export const localize = (normalized: Normalized, start: number, end: number, replacement: string): string => {
  if (normalized.returns.length === 0) return replacement
  const found: Array<string> = []
  for (let at = feed(normalized, start); at !== -1 && at < end; at = feed(normalized, at + 1)) {
    found.push(endAt(normalized, at))
  }
  const beyond = found.at(-1) ?? nearest(normalized, start, end)
  let i = 0
  return replacement.replace(/\n/g, () => found[i++] ?? beyond)
}

const feed = ({ text }: Normalized, from: number): number => text.indexOf("\n", from)

const endAt = ({ returns }: Normalized, at: number): string => (returns[before(returns, at)] === at ? "\r\n" : "\n")

const nearest = (normalized: Normalized, start: number, end: number): string => {
  const next = feed(normalized, end)
  const at = next !== -1 ? next : start > 0 ? normalized.text.lastIndexOf("\n", start - 1) : -1
  return at === -1 ? "\n" : endAt(normalized, at)
}
