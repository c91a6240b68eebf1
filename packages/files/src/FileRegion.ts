/**
 * A few numbered lines of a file, for a message that has to say how things stand around a place.
 */
import * as Text from "@dsh/kernel/Text"

const contextLines = 3
const maxLines = 40
const maxLineUnits = 300

/** One line as `read` shows it. */
export const numbered = (number: number, line: string): string => `${number}: ${line}`

/** The first lines of `text`. */
export const head = (text: string): string => show(linesOf(text), 0, maxLines)

/** Whether `head` shows all of `text`. */
export const isWhole = (text: string): boolean => {
  const lines = linesOf(text)
  return lines.length <= maxLines && lines.every((line) => line.length <= maxLineUnits)
}

/** How many lines `text` has, in words. */
export const size = (text: string): string => lineCount(linesOf(text).length)

export const lineCount = (count: number): string => (count === 1 ? "1 line" : `${count} lines`)

/** The part of `text` that looks most like `wanted`; none if no line of it is there. */
export const around = (text: string, wanted: string): string | undefined => {
  const lines = linesOf(text)
  const wantedLines = linesOf(wanted)
  const start = bestStart(lines, wantedLines)
  if (start === undefined) return undefined
  const from = Math.max(0, start - contextLines)
  return show(lines, from, Math.min(maxLines, start + wantedLines.length + contextLines - from))
}

const linesOf = (text: string): ReadonlyArray<string> => {
  const lines = text.split(/\r?\n/)
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines
}

// Every line that both have votes for where the text would begin if it were there.
const bestStart = (lines: ReadonlyArray<string>, wanted: ReadonlyArray<string>): number | undefined => {
  const places = new Map<string, Array<number>>()
  wanted.forEach((line, i) => {
    const key = line.trim()
    if (key.length > 2) places.set(key, [...(places.get(key) ?? []), i])
  })
  const votes = new Map<number, number>()
  lines.forEach((line, i) => {
    for (const offset of places.get(line.trim()) ?? []) votes.set(i - offset, (votes.get(i - offset) ?? 0) + 1)
  })
  let best: number | undefined
  for (const [start, count] of votes) if (best === undefined || count > votes.get(best)!) best = start
  return best === undefined ? undefined : Math.max(0, best)
}

const show = (lines: ReadonlyArray<string>, from: number, count: number): string => {
  const shown = lines.slice(from, from + count)
  const left = lines.length - from - shown.length
  return [
    ...shown.map((line, i) => numbered(from + i + 1, Text.ellipsis(line, maxLineUnits))),
    ...(left > 0 ? [`(${left} more lines)`] : [])
  ].join("\n")
}
