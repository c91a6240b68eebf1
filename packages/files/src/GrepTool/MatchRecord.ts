/**
 * A line that ripgrep found, read from a record of its JSON output. Names and lines that are not UTF-8 come as base64; whatever is not
 * valid shows as U+FFFD. Of a long line a part is kept: the one with the match in it.
 */
import * as Text from "@dsh/kernel/Text"
import type { Record } from "../Ripgrep.ts"

export interface FoundLine {
  /** As ripgrep names it. */
  readonly path: string
  readonly lineNumber: number
  /** Several lines, when the pattern went over their ends. */
  readonly line: string
  /** A neighbour of a match, not one itself. */
  readonly isContext: boolean
  /** What is kept of it is UTF-8, as it is or as ripgrep made it. */
  readonly isUtf8: boolean
}

/** Undefined for records that are about something else than a line. */
export const parse = (record: Record, maxLineBytes: number): FoundLine | undefined => {
  const start = record.bytes.toString("latin1", 0, 32)
  const isContext = start.startsWith('{"type":"context"')
  if (!isContext && !start.startsWith('{"type":"match"')) return undefined
  if (record.after !== undefined) return parseCut(record.bytes, record.after, isContext, maxLineBytes)
  // The program and its version are ours, so its output has the shape it says it has.
  const { data } = JSON.parse(record.bytes.toString("utf8")) as { readonly data: Data }
  const line = withoutEnd(bytesOf(data.lines))
  return {
    path: bytesOf(data.path).toString("utf8"),
    lineNumber: data.line_number ?? 0,
    line: excerpt(line, line.length, data.submatches[0]?.start ?? 0, maxLineBytes),
    isContext,
    isUtf8: "text" in data.lines
  }
}

interface Data {
  readonly path: Encoded
  readonly lines: Encoded
  readonly line_number: number | null
  /** Offsets in bytes. */
  readonly submatches: ReadonlyArray<{ readonly start: number }>
}

type Encoded = { readonly text: string } | { readonly bytes: string }

const bytesOf = (encoded: Encoded): Buffer =>
  "text" in encoded ? Buffer.from(encoded.text, "utf8") : Buffer.from(encoded.bytes, "base64")

const cutRecord = /^\{"type":"\w+","data":\{"path":(\{"\w+":"(?:[^"\\]|\\.)*"\}),"lines":\{"(text|bytes)":"/

/** A record whose line was too long to keep: its beginning, and the number of the line from what came after it. */
const parseCut = (bytes: Buffer, after: string, isContext: boolean, maxLineBytes: number): FoundLine | undefined => {
  const head = cutRecord.exec(bytes.toString("latin1", 0, 16_384))
  if (head === null) return undefined
  const [opening, path = "", encoding] = head
  const raw = bytes.subarray(opening.length, opening.length + maxLineBytes * 6)
  const line = encoding === "bytes" ? Buffer.from(raw.toString("latin1"), "base64") : unescaped(raw)
  return {
    path: bytesOf(JSON.parse(Buffer.from(path, "latin1").toString("utf8")) as Encoded).toString("utf8"),
    lineNumber: Number(/"line_number":(\d+)/.exec(after)?.[1] ?? 0),
    line: excerpt(line, undefined, 0, maxLineBytes),
    isContext,
    isUtf8: encoding === "text"
  }
}

/** Of a JSON string that ends anywhere. */
const unescaped = (raw: Buffer): Buffer => {
  const text = raw.toString("utf8").replace(/((?:^|[^\\])(?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$/, "$1")
  return Buffer.from(JSON.parse(`"${text}"`) as string, "utf8")
}

const withoutEnd = (line: Buffer): Buffer => {
  if (line.at(-1) !== 0x0a) return line
  return line.subarray(0, line.at(-2) === 0x0d ? -2 : -1)
}

/** `size`: in bytes, undefined if nobody counted. `from`: where the match begins. */
const excerpt = (line: Buffer, size: number | undefined, from: number, maxBytes: number): string => {
  if (size !== undefined && size <= maxBytes) return line.toString("utf8")
  // A quarter of what is shown comes before the match, if the match would not be in sight otherwise.
  const start = from < (maxBytes * 3) / 4 ? 0 : from - Math.floor(maxBytes / 4)
  const piece = line.subarray(start, start + maxBytes).toString("utf8")
  // Half a character at either end is none.
  const whole = Text.headBytes(piece.replace(/^\uFFFD+|\uFFFD+$/g, ""), maxBytes)
  const before = start === 0 ? "" : "…"
  return `${before}${whole}… (line cut, ${size === undefined ? "very long" : `${size} bytes in all`})`
}
