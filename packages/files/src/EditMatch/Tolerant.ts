/**
 * Finding text that was copied with other whitespace: tabs for spaces, another indentation, one space where there are four. Every
 * word has to be there, in order, and so does every line break.
 */
import * as Reindent from "./Reindent.ts"
import type { Pair } from "./Reindent.ts"

export interface Found {
  readonly start: number
  readonly end: number
}

// Longer needles are whole files, and then something else is wrong.
const longestNeedle = 50_000

/** All places in `text` that read like `needle` up to runs of spaces and tabs. Both have plain `\n`. */
export const find = (text: string, needle: string): ReadonlyArray<Found> => {
  if (needle.trim() === "" || needle.length > longestNeedle) return []
  return Array.from(text.matchAll(pattern(needle)), (match) => ({
    start: match.index,
    end: match.index + match[0].length
  }))
}

const pattern = (needle: string): RegExp => {
  const lines = needle.split("\n")
  const last = lines.length - 1
  const parts = lines.map((line, i) => {
    const words = line.split(/[ \t]+/).filter((word) => word !== "")
    const body = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("[ \\t]+")
    // Where the needle begins or ends with a line break it says nothing about the whitespace beyond.
    const before = i > 0 ? (i === last && line === "" ? "" : "[ \\t]*") : /^[ \t]/.test(line) ? firstSpace : ""
    const after = body !== "" && (i < last || /[ \t]$/.test(line)) ? "[ \\t]*" : ""
    return before + body + after
  })
  return new RegExp(parts.join("\\n"), "g")
}

// All of an indentation or of a run between words, never a part: that also keeps the search linear.
const firstSpace = "(?:(?<![^\\n])[ \\t]*|(?<![ \\t])[ \\t]+)"

/** The replacement for `found`, with the whitespace that the file has where the model has its own. */
export const rewrite = (text: string, { end, start }: Found, needle: string, replacement: string): string => {
  const written = needle.split("\n")
  const actual = text.slice(start, end).split("\n")
  const lines = replacement.split("\n")
  const lead = text.slice(text.lastIndexOf("\n", start - 1) + 1, start)

  // Lines that the model only repeats to say where it is stay as they are in the file.
  let head = 0
  while (head < lines.length && head < written.length && lines[head] === written[head]) head++
  let tail = 0
  while (
    tail < Math.min(lines.length, written.length) - head &&
    lines[lines.length - 1 - tail] === written[written.length - 1 - tail]
  ) {
    tail++
  }

  const indent = Reindent.carry(pairs(written, actual, lead))
  const carried = lines.slice(head, lines.length - tail).map((line, i) => {
    const startsInside = head + i === 0 && lead !== ""
    if (startsInside || line.trim() === "") return line
    const own = Reindent.indentOf(line)
    return indent(own) + line.slice(own.length)
  })
  return [...actual.slice(0, head), ...carried, ...(tail === 0 ? [] : actual.slice(-tail))].join("\n")
}

const pairs = (written: ReadonlyArray<string>, actual: ReadonlyArray<string>, lead: string): ReadonlyArray<Pair> =>
  written.flatMap((line, i) => {
    const there = actual[i]
    if (there === undefined || line.trim() === "") return []
    if (i > 0 || lead === "") return [{ written: Reindent.indentOf(line), actual: Reindent.indentOf(there) }]
    // The match begins behind the indentation, if that is all there is before it.
    return lead.trim() === "" ? [{ written: "", actual: lead }] : []
  })
