/**
 * What is wrong with a stored log, defect by defect, and the log that can be made of what is right. Pure: the same log, the same
 * diagnosis.
 */
import { isRun } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import { Enclosure } from "@dsh/protocol/Enclosure"
import type { SessionId } from "@dsh/protocol/Ids"
import * as Mending from "@dsh/protocol/Mending"
import * as Numbering from "@dsh/protocol/Numbering"
import * as Header from "@dsh/protocol/SessionHeader"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Either from "effect/Either"
import * as Arrangement from "./Arrangement.ts"
import * as JsonlCodec from "./JsonlCodec.ts"
import { BadLine } from "./JsonlCodec.ts"
import type { RawLog, RawRecord } from "./RawLog.ts"
import { eventsOf } from "./StoredSession.ts"

export type DefectCode =
  /** The header says nothing. */
  | "HEADER_UNREADABLE"
  /** The header is that of another session. */
  | "HEADER_OF_ANOTHER"
  /** A record makes no sense. */
  | "RECORD_UNREADABLE"
  /** The numbers of the records do not follow each other. */
  | "RECORDS_OUT_OF_ORDER"
  /** An event needs another one that is lost. */
  | "EVENT_ORPHANED"
  /** An event that must have been there is lost. */
  | "EVENT_LOST"
  /** An event stands where no session would have written it. */
  | "EVENT_MISPLACED"
  /** The last record is not complete. */
  | "END_TORN"

export interface Defect {
  readonly code: DefectCode
  /** "line 7", "the header", "event 12". */
  readonly place: string
  readonly message: string
  /** What a repair makes of it; nothing when it leaves it as it is. */
  readonly repair?: string
}

export interface Diagnosis {
  /** None when there is nothing wrong. */
  readonly defects: ReadonlyArray<Defect>
  readonly header: SessionHeader
  /** The log after a repair. */
  readonly entries: ReadonlyArray<LogEntry>
}

/** Fails only for a log of another format version, which is not damaged. */
export const of = (id: SessionId, raw: RawLog): Either.Either<Diagnosis, BadLine> => {
  const defects: Array<Defect> = []
  const records = [...raw.records]
  const decoded = decodeHeader(raw.header)
  if (Either.isLeft(decoded) && decoded.left.code === "UNSUPPORTED_FORMAT") return Either.left(decoded.left)
  // A log whose first line is lost begins with an event.
  if (Either.isLeft(decoded) && raw.header.length > 0) records.unshift({ place: headerPlace, bytes: raw.header })
  const placed = readable(records, Either.isLeft(decoded), defects)
  const header = headerOf(id, decoded, placed, defects)
  const { entries: numbered, irregularities } = Numbering.number(placed)
  for (const irregularity of irregularities) {
    const message = Arrangement.describe(irregularity, records[irregularity.place]!.place)
    const repair = irregularity.kind === "missing" ? "marks them as lost" : "leaves it out"
    defects.push({ code: "RECORDS_OUT_OF_ORDER", place: records[irregularity.place]!.place, message, repair })
  }
  const { changes, entries } = Mending.mend(numbered, header.seedLength)
  for (const change of changes) defects.push(changed(change))
  if (raw.rest.length > 0) {
    const message = `the last record is not complete (${raw.rest.length} bytes)`
    defects.push({ code: "END_TORN", place: "the end", message, repair: "cuts it off" })
  }
  for (const defect of misplaced(entries)) defects.push(defect)
  return Either.right({ defects, header, entries })
}

const headerPlace = "the header"
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const textOf = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new BadLine({ code: "CORRUPT_LOG", reason: "it is not UTF-8" })
  }
}

const decodeHeader = (bytes: Uint8Array): Either.Either<SessionHeader, BadLine> => {
  try {
    return JsonlCodec.decodeHeader(textOf(bytes))
  } catch (problem) {
    if (problem instanceof BadLine) return Either.left(problem)
    throw problem
  }
}

/** The records that can be read, each with its index among all. The first may be what stood in place of the header. */
const readable = (
  records: ReadonlyArray<RawRecord>,
  beginsWithHeader: boolean,
  defects: Array<Defect>
): ReadonlyArray<Numbering.Placed> =>
  records.flatMap(({ bytes, place }, index) => {
    try {
      return [{ place: index, entry: JsonlCodec.decodeEntry(textOf(bytes)) }]
    } catch (problem) {
      if (!(problem instanceof BadLine)) throw problem
      if (!(beginsWithHeader && index === 0)) {
        defects.push({ code: "RECORD_UNREADABLE", place, message: problem.reason, repair: "leaves it out" })
      }
      return []
    }
  })

const headerOf = (
  id: SessionId,
  decoded: Either.Either<SessionHeader, BadLine>,
  placed: ReadonlyArray<Numbering.Placed>,
  defects: Array<Defect>
): SessionHeader => {
  const place = headerPlace
  if (Either.isRight(decoded)) {
    const header = decoded.right
    if (header.id === id) return header
    const message = `it is the header of session ${header.id}`
    defects.push({ code: "HEADER_OF_ANOTHER", place, message, repair: `makes it the header of session ${id}` })
    return { ...header, id }
  }
  const first = placed[0]?.entry
  const createdAt = first === undefined ? 0 : Math.max(0, isRun(first) ? first.times[0]! : first.time)
  const repair = "writes one that knows the id and the time of the first event, and no folder"
  defects.push({ code: "HEADER_UNREADABLE", place, message: decoded.left.reason, repair })
  return { version: Header.formatVersion, id, createdAt, delegationDepth: 0 }
}

const changed = (change: Mending.Change): Defect => {
  const place = `event ${change.seq}`
  switch (change.kind) {
    case "orphaned":
      return {
        code: "EVENT_ORPHANED",
        place,
        message: `this ${change.type} has lost what it needs: ${change.reason}`,
        repair: "marks it as lost"
      }
    case "filled":
      return {
        code: "EVENT_LOST",
        place,
        message: `a ${change.type} must have been here`,
        repair: `writes ${change.type === "tool/result" ? "one that says so" : "it again"}`
      }
    case "unasked": {
      const calls = change.calls.join(", ")
      return {
        code: "EVENT_LOST",
        place,
        message: `the results of the calls it asks for are lost: ${calls}`,
        repair: "takes the calls out of it"
      }
    }
  }
}

function* misplaced(entries: ReadonlyArray<LogEntry>): Iterable<Defect> {
  const enclosure = new Enclosure()
  for (const event of eventsOf(entries)) {
    const message = enclosure.problem(event)
    enclosure.apply(event)
    if (message !== undefined) yield { code: "EVENT_MISPLACED", place: `event ${event.seq}`, message }
  }
}
