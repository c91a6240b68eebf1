/**
 * A log as it was read from storage.
 */
import { eventAt, isRun, sizeOf } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"

export interface StoredSession {
  /** `delegationDepth` is always there. */
  readonly header: SessionHeader
  /** The log in its compact form: runs of deltas stay packed. */
  readonly entries: ReadonlyArray<LogEntry>
  /** The same log event by event. Unpacks as it goes, so that a huge log costs no more memory than `entries`. */
  readonly events: Iterable<SessionEvent>
  /** The number of events, and the seq of the next one. */
  readonly length: number
  /** Bytes of an incomplete record at the end that were not read; 0 for a log that was closed in order. */
  readonly tornBytes: number
  /** How the log came to be read otherwise than it stands there, in sentences for people; mostly none. */
  readonly notices: ReadonlyArray<string>
}

/** The number of events that `entries` stand for. */
export const lengthOf = (entries: ReadonlyArray<LogEntry>): number => {
  let length = 0
  for (const entry of entries) length += sizeOf(entry)
  return length
}

/** The events that `entries` stand for. */
export function* eventsOf(entries: Iterable<LogEntry>): IterableIterator<SessionEvent> {
  for (const entry of entries) {
    if (isRun(entry)) for (let i = 0; i < entry.texts.length; i++) yield eventAt(entry, i)
    else yield entry
  }
}

export const make = (
  header: SessionHeader,
  entries: ReadonlyArray<LogEntry>,
  { notices = [], tornBytes = 0 }: Partial<Pick<StoredSession, "notices" | "tornBytes">> = {}
): StoredSession => ({
  header,
  entries,
  events: { [Symbol.iterator]: () => eventsOf(entries) },
  length: lengthOf(entries),
  tornBytes,
  notices
})
