/**
 * The in-memory log: entries in order, runs of deltas kept packed, any event reachable by its seq.
 */
import { eventAt, extend, isRun, sizeOf } from "@dsh/protocol/ChunkRun"
import type { ChunkRun, LogEntry } from "@dsh/protocol/ChunkRun"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"

const seqOf = (entry: LogEntry): number => entry.seq

/** A private copy, so that the log can grow it while others hold the original. */
const own = (run: ChunkRun): ChunkRun => ({ ...run, times: [...run.times], texts: [...run.texts] })

export class Log {
  private readonly entries: Array<LogEntry> = []
  length = 0

  push(entry: LogEntry): void {
    if (isRun(entry)) {
      const last = this.entries[this.entries.length - 1]
      if (last === undefined || !isRun(last) || !extend(last, entry)) this.entries.push(own(entry))
    } else {
      this.entries.push(entry)
    }
    this.length += sizeOf(entry)
  }

  at(seq: number): SessionEvent | undefined {
    if (!Number.isSafeInteger(seq) || seq < 0 || seq >= this.length) return undefined
    const entry = this.entries[this.locate(seq)]!
    return isRun(entry) ? eventAt(entry, seq - entry.seq) : entry
  }

  *range(from: number, to: number): IterableIterator<SessionEvent> {
    const end = Math.min(to, this.length)
    let seq = Math.max(0, from)
    if (seq >= end) return
    for (let i = this.locate(seq); i < this.entries.length && seq < end; i++) {
      const entry = this.entries[i]!
      if (!isRun(entry)) {
        yield entry
        seq++
        continue
      }
      for (; seq < Math.min(end, entry.seq + entry.texts.length); seq++) yield eventAt(entry, seq - entry.seq)
    }
  }

  /** Index of the entry that holds `seq`. */
  private locate(seq: number): number {
    let low = 0
    let high = this.entries.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (seqOf(this.entries[middle]!) <= seq) low = middle
      else high = middle - 1
    }
    return low
  }
}
