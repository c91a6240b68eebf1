/**
 * A log as rows: a record each, the same text as a line of a JSONL log.
 */
import * as Arrangement from "@dsh/persistence/Arrangement"
import * as ChunkRow from "@dsh/persistence/ChunkRow"
import * as JsonlCodec from "@dsh/persistence/JsonlCodec"
import { BadLine } from "@dsh/persistence/JsonlCodec"
import type { StoredSession } from "@dsh/persistence/StoredSession"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Either from "effect/Either"

export interface Row {
  /** Of the first event that the record stands for. */
  readonly seq: number
  readonly record: string
}

/** The rows of one batch. */
export const encode = (entries: ReadonlyArray<LogEntry>): ReadonlyArray<Row> =>
  ChunkRow.pack(entries).map((record) =>
    "seq" in record
      ? { seq: record.seq, record: JsonlCodec.encode([record]).trimEnd() }
      : { seq: record.seq0, record: JSON.stringify(record) }
  )

/** What is wrong, and with which row. */
export interface Unreadable {
  readonly seq: number
  readonly problem: BadLine
}

export interface Log {
  readonly stored: StoredSession
  /** The seq column of the last row that was read; -1 when there is none. */
  readonly last: number
  /** How many rows behind it were left out. */
  readonly torn: number
}

/**
 * The stored session, or the first row that cannot be read. A bad row and everything behind it is left out when no turn ends there:
 * then it is the end of a log that was not written to its end.
 */
export const decode = (header: SessionHeader, rows: ReadonlyArray<Row>): Either.Either<Log, Unreadable> => {
  const entries: Array<LogEntry> = []
  let last = -1
  for (const [index, { record, seq }] of rows.entries()) {
    const entry = entryOf(record, seq)
    if (entry instanceof BadLine) {
      const rest = rows.slice(index)
      if (rest.some(endsTurn)) return Either.left({ seq, problem: entry })
      return Either.right({ stored: arranged(header, entries, bytesOf(rest)), last, torn: rest.length })
    }
    entries.push(entry)
    last = seq
  }
  return Either.right({ stored: arranged(header, entries), last, torn: 0 })
}

const arranged = (header: SessionHeader, entries: ReadonlyArray<LogEntry>, tornBytes = 0) =>
  Arrangement.arrange({ header, entries, tornBytes, placeOf: (index) => `the row of event ${entries[index]!.seq}` })

/** The entry of a row. */
export const entryOf = (record: string, seq: number): LogEntry | BadLine => {
  try {
    const entry = JsonlCodec.decodeEntry(record)
    if (entry.seq === seq) return entry
    return new BadLine({ code: "CORRUPT_LOG", reason: `it holds event ${entry.seq}` })
  } catch (problem) {
    if (problem instanceof BadLine) return problem
    throw problem
  }
}

// Inside of a JSON string the quotes would be escaped.
const endsTurn = ({ record }: Row): boolean => record.includes('"type":"turn/end"')

const encoder = new TextEncoder()

const bytesOf = (rows: ReadonlyArray<Row>): number =>
  rows.reduce((bytes, { record }) => bytes + encoder.encode(record).length, 0)
