/**
 * What a fork inherits: the beginning of a log, up to a place where no turn is open.
 */
import { eventAt, isRun, sizeOf } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { SessionId } from "@dsh/protocol/Ids"
import * as Effect from "effect/Effect"
import { SessionError } from "../SessionError.ts"

export interface History {
  readonly entries: ReadonlyArray<LogEntry>
  /** In events. */
  readonly length: number
}

/** @param at Seq of the last event; default: the last there is. Fails with `INVALID_BOUNDARY` or `OPEN_TURN`. */
export const upTo = (
  source: SessionId,
  log: ReadonlyArray<LogEntry>,
  at: number | undefined
): Effect.Effect<History, SessionError> =>
  Effect.suspend(() => {
    const refuse = (code: "INVALID_BOUNDARY" | "OPEN_TURN", message: string) =>
      new SessionError({ code, sessionId: source, message: `session ${source} cannot be forked there: ${message}` })
    const last = log[log.length - 1]
    const total = last === undefined ? 0 : last.seq + sizeOf(last)
    const length = at === undefined ? total : at + 1
    if (at !== undefined && !(Number.isSafeInteger(at) && at >= 0 && at < total)) {
      return refuse("INVALID_BOUNDARY", total === 0 ? "it is empty" : `its events are numbered from 0 to ${total - 1}`)
    }
    const entries = cut(log, length)
    const open = openTurn(entries)
    if (open === undefined) return Effect.succeed({ entries, length })
    const before = open.seq === 0 ? "" : `; the last event before it is ${open.seq - 1}`
    return refuse("OPEN_TURN", `turn ${open.data.turn} is open${before}`)
  })

/** The first `length` events. */
const cut = (log: ReadonlyArray<LogEntry>, length: number): ReadonlyArray<LogEntry> =>
  log.flatMap((entry) => {
    if (entry.seq + sizeOf(entry) <= length) return [entry]
    if (entry.seq >= length || !isRun(entry)) return []
    return Array.from({ length: length - entry.seq }, (_, i) => eventAt(entry, i))
  })

const openTurn = (entries: ReadonlyArray<LogEntry>) => {
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i]!
    if (isRun(entry)) continue
    if (entry.type === "turn/end") return undefined
    if (entry.type === "turn/start") return entry
  }
  return undefined
}
