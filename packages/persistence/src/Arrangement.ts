/**
 * Records as they stand in storage, arranged to a log. Mostly they are one; where their numbers do not follow each other, the rule of
 * `Numbering` says which of them count, and `Mending` closes what that leaves open. The storage stays as it is: whoever reads it again
 * reads the same log.
 */
import { sizeOf } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import * as Mending from "@dsh/protocol/Mending"
import * as Numbering from "@dsh/protocol/Numbering"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as StoredSession from "./StoredSession.ts"

export interface Records {
  readonly header: SessionHeader
  readonly entries: ReadonlyArray<LogEntry>
  /** Where an entry stands, in words like "line 7". */
  readonly placeOf: (index: number) => string
  readonly tornBytes?: number
}

export const arrange = ({ entries, header, placeOf, tornBytes = 0 }: Records): StoredSession.StoredSession => {
  if (areInOrder(entries)) return StoredSession.make(header, entries, { tornBytes })
  const records = entries.map((entry, place) => ({ place, entry }))
  const { entries: numbered, irregularities } = Numbering.number(records)
  return StoredSession.make(header, Mending.mend(numbered, header.seedLength).entries, {
    tornBytes,
    notices: irregularities.map((irregularity) => describe(irregularity, placeOf(irregularity.place)))
  })
}

/** What is irregular, and what that means. */
export const describe = (irregularity: Numbering.Irregularity, place: string): string => {
  switch (irregularity.kind) {
    case "superseded":
      return `${place} holds event ${irregularity.seq}, which other records replace; it does not count`
    case "missing": {
      const { from, to } = irregularity
      return from === to
        ? `event ${from} is missing before ${place}`
        : `events ${from} to ${to} are missing before ${place}`
    }
    case "far":
      return `${place} holds event ${irregularity.seq}, far beyond the end of the log; it does not count`
  }
}

const areInOrder = (entries: ReadonlyArray<LogEntry>): boolean => {
  let next = 0
  for (const entry of entries) {
    if (entry.seq !== next) return false
    next += sizeOf(entry)
  }
  return true
}
