/**
 * The bytes of a log file as a stored session. Decoded slab by slab, so that a log may be longer than the longest string.
 */
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Either from "effect/Either"
import * as Arrangement from "../Arrangement.ts"
import * as JsonlCodec from "../JsonlCodec.ts"
import { BadLine } from "../JsonlCodec.ts"
import type { RawLog, RawRecord } from "../RawLog.ts"
import type { StoredSession } from "../StoredSession.ts"

const newline = 10
const slabBytes = 4 * 1024 * 1024

/** What is wrong, and with which line, counted from 1. */
export interface Unreadable {
  readonly line: number
  readonly problem: BadLine
}

/**
 * The stored session, or the first line that cannot be read. Bytes behind the last newline are left out, and so is everything from a
 * bad line on when no turn ends behind it: it is the end of a log whose writing was cut short.
 */
export const decode = (bytes: Uint8Array): Either.Either<StoredSession, Unreadable> => {
  const whole = decodeLines(bytes)
  if (Either.isRight(whole)) return Either.right(arranged(whole.right, bytes.length - committed(bytes)))
  if (whole.left.line === 1) return Either.left(whole.left)
  const start = startOfLine(bytes, whole.left.line)
  if (endsTurn(bytes, start)) return Either.left(whole.left)
  return Either.map(decodeLines(bytes.subarray(0, start)), (lines) => arranged(lines, bytes.length - start))
}

interface Decoded {
  readonly header: SessionHeader
  readonly entries: ReadonlyArray<LogEntry>
}

const arranged = (lines: Decoded, tornBytes: number) =>
  Arrangement.arrange({ ...lines, tornBytes, placeOf: (index) => `line ${index + 2}` })

const startOfLine = (bytes: Uint8Array, line: number): number => {
  let start = 0
  for (let passed = 1; passed < line; passed++) start = bytes.indexOf(newline, start) + 1
  return start
}

// Inside of a JSON string the quotes would be escaped.
const turnEnd = Buffer.from('"type":"turn/end"')

const endsTurn = (bytes: Uint8Array, from: number): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(turnEnd, from)

const decodeLines = (bytes: Uint8Array): Either.Either<Decoded, Unreadable> => {
  const entries: Array<LogEntry> = []
  let header: SessionHeader | undefined
  let line = 0
  try {
    for (const text of slabs(bytes)) {
      for (let from = 0; from < text.length;) {
        const to = text.indexOf("\n", from)
        const content = text.slice(from, to)
        from = to + 1
        line++
        if (header === undefined) {
          const decoded = JsonlCodec.decodeHeader(content)
          if (Either.isLeft(decoded)) return Either.left({ line, problem: decoded.left })
          header = decoded.right
        } else {
          entries.push(JsonlCodec.decodeEntry(content))
        }
      }
    }
  } catch (problem) {
    if (problem instanceof BadLine) return Either.left({ line, problem })
    if (problem instanceof NotUtf8) return Either.left({ line: line + problem.lines, problem: notText })
    throw problem
  }
  if (header === undefined) return Either.left({ line: 1, problem: JsonlCodec.noHeader })
  return Either.right({ header, entries })
}

const notText = new BadLine({ code: "CORRUPT_LOG", reason: "it is not UTF-8" })

/** The lines as they stand there. */
export const raw = (bytes: Uint8Array): Omit<RawLog, "path"> => {
  const end = committed(bytes)
  const first = end === 0 ? 0 : bytes.indexOf(newline)
  return {
    header: bytes.subarray(0, first),
    records: { [Symbol.iterator]: () => recordsOf(bytes, first + 1, end) },
    rest: bytes.subarray(end)
  }
}

function* recordsOf(bytes: Uint8Array, start: number, end: number): IterableIterator<RawRecord> {
  let line = 2
  for (let from = start; from < end; line++) {
    const to = bytes.indexOf(newline, from)
    yield { place: `line ${line}`, bytes: bytes.subarray(from, to) }
    from = to + 1
  }
}

/** Where the last complete line ends. */
export const committed = (bytes: Uint8Array): number => bytes.lastIndexOf(newline) + 1

// Whole slabs only, so that the decoder keeps nothing from one to the next.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

class NotUtf8 {
  /** How many lines into the slab. */
  readonly lines: number
  constructor(lines: number) {
    this.lines = lines
  }
}

/** The text of all complete lines, cut between lines. */
function* slabs(bytes: Uint8Array): IterableIterator<string> {
  const end = committed(bytes)
  for (let from = 0; from < end;) {
    let to = Math.min(from + slabBytes, end)
    if (to < end) {
      const cut = bytes.lastIndexOf(newline, to - 1) + 1
      // A line longer than a slab makes a slab of its own.
      to = cut > from ? cut : bytes.indexOf(newline, to) + 1
    }
    yield textOf(bytes.subarray(from, to))
    from = to
  }
}

const textOf = (slab: Uint8Array): string => {
  try {
    return utf8.decode(slab)
  } catch {
    throw new NotUtf8(firstBadLine(slab))
  }
}

const firstBadLine = (slab: Uint8Array): number => {
  let line = 0
  for (let from = 0; from < slab.length;) {
    const to = slab.indexOf(newline, from) + 1
    line++
    try {
      utf8.decode(slab.subarray(from, to))
    } catch {
      return line
    }
    from = to
  }
  return line
}
