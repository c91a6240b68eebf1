/**
 * A session log as lines of JSON: one header, then one record per line. Pure text in, pure values out.
 */
import { isRun, sizeOf } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import * as LogCheck from "@dsh/protocol/LogCheck"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import * as Header from "@dsh/protocol/SessionHeader"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as ChunkRow from "./ChunkRow.ts"

/** A line that cannot be read. `reason` follows "line N: ". */
export class BadLine extends Data.TaggedError("BadLine")<{
  /** `UNSUPPORTED_FORMAT`: the header is of another format version, and nothing else of the log was looked at. */
  readonly code: "CORRUPT_LOG" | "UNSUPPORTED_FORMAT"
  readonly reason: string
  readonly cause?: unknown
}> {}

/** The log does not even have a first line. */
export const noHeader = new BadLine({ code: "CORRUPT_LOG", reason: "it is not complete, so there is no header" })

// -----------------------------------------------------------------------------
// writing
// -----------------------------------------------------------------------------

/** The first line, newline included. */
export const encodeHeader = (header: SessionHeader): string => {
  const { agentPreset, createdAt, cwd, delegationDepth = 0, id, origin, parentSession, seedLength, version } = header
  // JSON.stringify leaves out what is undefined.
  const line = {
    type: "session",
    version,
    id,
    createdAt,
    cwd,
    parentSession,
    seedLength,
    origin,
    delegationDepth,
    agentPreset
  }
  return `${JSON.stringify(line)}\n`
}

/** The lines of one batch, each with its newline. */
export const encode = (entries: ReadonlyArray<LogEntry>): string => {
  let text = ""
  for (const record of ChunkRow.pack(entries)) text += `${JSON.stringify("seq" in record ? inOrder(record) : record)}\n`
  return text
}

// One order of members, whoever made the event: equal logs are equal bytes.
const inOrder = ({ data, ignorable, seq, sourceEventSeqs, surfaceOp, time, type }: SessionEvent) => ({
  type,
  seq,
  time,
  data,
  surfaceOp,
  sourceEventSeqs,
  ignorable
})

// -----------------------------------------------------------------------------
// reading
// -----------------------------------------------------------------------------

/** The header that a first line holds, whatever the line says beyond it. The version is looked at before anything else. */
export const decodeHeader = (line: string): Either.Either<SessionHeader, BadLine> => {
  const corrupt = (reason: string, cause?: unknown) => Either.left(new BadLine({ code: "CORRUPT_LOG", reason, cause }))
  let fields: unknown
  try {
    fields = JSON.parse(line)
  } catch (cause) {
    return corrupt("it is not JSON", cause)
  }
  if (!isObject(fields) || fields["type"] !== "session") return corrupt("it is not a session header")
  const { version } = fields
  if (typeof version !== "number" || !Number.isSafeInteger(version)) return corrupt("the header has no format version")
  if (version !== Header.formatVersion) {
    const advice =
      version > Header.formatVersion
        ? "it was written by a newer version of dsh; upgrade dsh to read it"
        : "it was written by an older version of dsh, whose format this one does not support"
    const reason = `the format version is ${version}, this build reads ${Header.formatVersion}: ${advice}`
    return Either.left(new BadLine({ code: "UNSUPPORTED_FORMAT", reason }))
  }
  return Either.mapLeft(
    LogCheck.header(fields),
    (problem) => new BadLine({ code: "CORRUPT_LOG", reason: `the header is invalid: ${problem}` })
  )
}

/** What the last line of a log says about all of it: the number of events and the time of the last. */
export const decodeLast = (line: string): Either.Either<{ readonly length: number; readonly time: number }, BadLine> =>
  Either.try({
    try: () => {
      const entry = decodeEntry(line)
      return {
        length: entry.seq + sizeOf(entry),
        time: isRun(entry) ? entry.times[entry.times.length - 1]! : entry.time
      }
    },
    catch: (error) =>
      error instanceof BadLine ? error : new BadLine({ code: "CORRUPT_LOG", reason: String(error), cause: error })
  })

/** The entry that a line holds. Throws a `BadLine`: this is the hot path of loading, and an error ends it. */
export const decodeEntry = (line: string): LogEntry => {
  let record: unknown
  try {
    record = JSON.parse(line)
  } catch (cause) {
    throw new BadLine({ code: "CORRUPT_LOG", reason: "it is not JSON", cause })
  }
  if (isObject(record) && ChunkRow.isRow(record)) {
    const run = ChunkRow.runOf(record)
    if (typeof run !== "string") return run
    throw new BadLine({ code: "CORRUPT_LOG", reason: `the row of chunks is invalid: ${run}` })
  }
  const problem = LogCheck.problemOf(record)
  if (problem !== undefined) throw new BadLine({ code: "CORRUPT_LOG", reason: `the event is invalid: ${problem}` })
  // The check covers every member that the type names.
  return record as SessionEvent
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)
