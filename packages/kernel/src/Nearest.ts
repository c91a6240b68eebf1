/**
 * Which known name did they mean? For messages about mistyped commands, options and keys.
 */

/** Levenshtein distance, in edits of one UTF-16 unit. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitute = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substitute, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}

/** The one that is close enough to be meant. */
export const find = (typed: string, known: ReadonlyArray<string>): string | undefined => {
  const [nearest] = known.map((name) => ({ name, edits: distance(typed, name) })).sort((a, b) => a.edits - b.edits)
  return nearest !== undefined && nearest.edits <= Math.max(2, Math.floor(typed.length / 3)) ? nearest.name : undefined
}

/** `did you mean "--model"?` when one is close enough to be meant, otherwise what there is to choose from. */
export const suggest = (typed: string, known: ReadonlyArray<string>): string => {
  const nearest = find(typed, known)
  return nearest === undefined ? `it knows ${known.join(", ")}` : `did you mean "${nearest}"?`
}
