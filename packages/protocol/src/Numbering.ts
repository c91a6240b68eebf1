/**
 * Which records of a stored log count when their numbers do not follow each other: two processes wrote to it, lines were lost or copied.
 *
 * One rule: a record continues the one before it in the file that has the largest smaller number, the latest if there are several. The
 * log is the line of records that leads to the largest number, again the latest if there are several. So a run of records that was
 * written again later counts in its later form, and a stray copy counts not at all. Numbers that no record of the line has become
 * `session/lost`, so that every other event keeps its number and what is cited by it is still found.
 */
import { eventAt, isRun, sizeOf } from "./ChunkRun.ts"
import type { LogEntry } from "./ChunkRun.ts"
import type { EventOf } from "./SessionEvent.ts"

/** A record and where it stands in its file: a line, a row. Places ascend. */
export interface Placed {
  readonly place: number
  readonly entry: LogEntry
}

export type Irregularity =
  /** Another record took the record's number, or it continues one whose number was taken. */
  | { readonly kind: "superseded"; readonly place: number; readonly seq: number }
  /** No record has these numbers, both inclusive. `place`: the first record behind them. */
  | { readonly kind: "missing"; readonly place: number; readonly from: number; readonly to: number }
  /** The number is so far ahead that it cannot be true. */
  | { readonly kind: "far"; readonly place: number; readonly seq: number }

export interface Numbered {
  /** Numbered from 0 without gaps. */
  readonly entries: ReadonlyArray<LogEntry>
  /** In the order of places; none when the log was in order. */
  readonly irregularities: ReadonlyArray<Irregularity>
}

/** More than a provider streams into one answer, and few enough to stand in memory. */
const mostMissing = 1_000_000

/** The log that the records make. */
export const number = (records: ReadonlyArray<Placed>): Numbered => {
  const found: Array<Irregularity> = []
  const line = lineOf(records, found)
  const entries: Array<LogEntry> = []
  let next = 0
  let time = 0
  const append = (entry: LogEntry) => {
    entries.push(entry)
    next += sizeOf(entry)
    time = isRun(entry) ? entry.times[entry.times.length - 1]! : entry.time
  }
  line.forEach((index, position) => {
    const { entry, place } = records[index]!
    if (entry.seq > next) {
      found.push({ kind: "missing", place, from: next, to: entry.seq - 1 })
      while (next < entry.seq) append(lost(next, time))
    }
    const following = line[position + 1]
    const end = following === undefined ? Number.POSITIVE_INFINITY : records[following]!.entry.seq
    // The following record may take the place of the rest of a run.
    if (isRun(entry) && entry.seq + entry.texts.length > end) {
      for (let i = 0; entry.seq + i < end; i++) append(eventAt(entry, i))
    } else {
      append(entry)
    }
  })
  return { entries, irregularities: found.sort((a, b) => a.place - b.place) }
}

/** What stands where an event was. */
export const lost = (seq: number, time: number): EventOf<"session/lost"> => ({
  type: "session/lost",
  seq,
  time,
  data: {},
  ignorable: true
})

/** Indices of the records that count, in order. */
const lineOf = (records: ReadonlyArray<Placed>, found: Array<Irregularity>): ReadonlyArray<number> => {
  const latest = new Latest()
  const before = new Array<number>(records.length)
  let last = -1
  let length = 0
  for (const [index, { entry, place }] of records.entries()) {
    if (entry.seq > length + mostMissing) {
      found.push({ kind: "far", place, seq: entry.seq })
      continue
    }
    before[index] = latest.below(entry.seq)
    latest.set(entry.seq, index)
    const end = entry.seq + sizeOf(entry)
    if (end < length) continue
    length = end
    last = index
  }
  const line: Array<number> = []
  for (let index = last; index >= 0; index = before[index]!) line.push(index)
  line.reverse()
  let next = 0
  for (const [index, { entry, place }] of records.entries()) {
    if (line[next] === index) next++
    else if (before[index] !== undefined) found.push({ kind: "superseded", place, seq: entry.seq })
  }
  return line
}

/** The latest record of each number. Numbers mostly come in order. */
class Latest {
  private readonly numbers: Array<number> = []
  private readonly indices = new Map<number, number>()

  set(seq: number, index: number): void {
    if (!this.indices.has(seq)) this.numbers.splice(this.position(seq), 0, seq)
    this.indices.set(seq, index)
  }

  /** The latest record of the largest number below `seq`; -1 when there is none. */
  below(seq: number): number {
    const number = this.numbers[this.position(seq) - 1]
    return number === undefined ? -1 : this.indices.get(number)!
  }

  /** How many numbers are below `seq`. */
  private position(seq: number): number {
    const last = this.numbers[this.numbers.length - 1]
    if (last === undefined || last < seq) return this.numbers.length
    let [low, high] = [0, this.numbers.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.numbers[middle]! < seq) low = middle + 1
      else high = middle
    }
    return low
  }
}
