/**
 * Runs of stream deltas as one stored record. Three or more consecutive deltas of one kind, turn, step and block become one row;
 * everything else is stored as the event it is. A row stands for exactly the events it was made of, and never appears as an event.
 */
import { eventAt, extend, isRun } from "@dsh/protocol/ChunkRun"
import type { ChunkRun, LogEntry } from "@dsh/protocol/ChunkRun"
import { CallId } from "@dsh/protocol/Ids"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"

interface Row<Type extends string, Data> {
  readonly type: Type
  /** Seq of the first delta; the others follow. */
  readonly seq0: number
  /** Time of the first delta. */
  readonly time0: number
  readonly data: {
    readonly turn: number
    readonly step: number
    readonly index: number
    /** Milliseconds from each delta to the next, one fewer than there are deltas; may be negative. */
    readonly dt: ReadonlyArray<number>
  } & Data
}

export type TextRow = Row<"text-chunks" | "reasoning-chunks", { readonly texts: ReadonlyArray<string> }>
export type ToolCallRow = Row<
  "tool-call-chunks",
  { readonly id: string; readonly name?: string; readonly args: ReadonlyArray<string> }
>
export type ChunkRow = TextRow | ToolCallRow

/** What a backend stores: an event, or a row that stands for several. */
export type StoredRecord = SessionEvent | ChunkRow

const fewest = 3

// -----------------------------------------------------------------------------
// packing
// -----------------------------------------------------------------------------

/** The records of one batch, in order. Runs that continue each other are joined first. */
export const pack = (entries: ReadonlyArray<LogEntry>): ReadonlyArray<StoredRecord> => {
  const records: Array<StoredRecord> = []
  let run: ChunkRun | undefined
  const end = () => {
    if (run !== undefined) emit(run, records)
    run = undefined
  }
  const join = (next: ChunkRun) => {
    if (run !== undefined && extend(run, next)) return
    end()
    run = { ...next, times: [...next.times], texts: [...next.texts] }
  }
  for (const entry of entries) {
    if (isRun(entry)) {
      join(entry)
      continue
    }
    const next = runOfOne(entry)
    if (next !== undefined) {
      join(next)
      continue
    }
    end()
    records.push(entry)
  }
  end()
  return records
}

const emit = (run: ChunkRun, records: Array<StoredRecord>): void => {
  const row = rowOf(run)
  if (row !== undefined) records.push(row)
  else for (let i = 0; i < run.texts.length; i++) records.push(eventAt(run, i))
}

/** A delta event as a run of one; nothing for any other event, and for one that a row could not give back exactly. */
export const runOfOne = (event: SessionEvent): ChunkRun | undefined => {
  if (event.type !== "assistant/chunk" || Object.keys(event).length !== 4 || Object.keys(event.data).length !== 3) {
    return undefined
  }
  const { chunk, step, turn } = event.data
  const members = Object.keys(chunk).length
  const place = { turn, step, seq: event.seq, times: [event.time] }
  switch (chunk.type) {
    case "text-delta":
    case "reasoning-delta":
      return members === 3 ? { kind: chunk.type, index: chunk.index, ...place, texts: [chunk.text] } : undefined
    case "tool-call-delta": {
      const { argumentsDelta, id, index, name } = chunk
      if (members !== (name === undefined ? 4 : 5)) return undefined
      return { kind: chunk.type, index, ...place, id, name, texts: [argumentsDelta] }
    }
    default:
      return undefined
  }
}

const rowOf = (run: ChunkRun): ChunkRow | undefined => {
  if (run.texts.length < fewest || !isCount(run.index)) return undefined
  const dt = gaps(run.times)
  if (dt === undefined) return undefined
  const { index, seq: seq0, step, texts, times, turn } = run
  const time0 = times[0] ?? 0
  if (run.kind !== "tool-call-delta") {
    const type = run.kind === "text-delta" ? "text-chunks" : "reasoning-chunks"
    return { type, seq0, time0, data: { turn, step, index, dt, texts } }
  }
  const name = run.name !== undefined && { name: run.name }
  return { type: "tool-call-chunks", seq0, time0, data: { turn, step, index, dt, id: run.id, ...name, args: texts } }
}

const gaps = (times: ReadonlyArray<number>): Array<number> | undefined => {
  const dt = new Array<number>(times.length - 1)
  for (let i = 1; i < times.length; i++) {
    const gap = times[i]! - times[i - 1]!
    // Beyond the safe integers, adding the gap would not give the time back.
    if (!Number.isSafeInteger(gap)) return undefined
    dt[i - 1] = gap
  }
  return dt
}

// -----------------------------------------------------------------------------
// unpacking
// -----------------------------------------------------------------------------

/** Whether a stored record claims to be a row. */
export const isRow = (record: { readonly type?: unknown }): boolean =>
  record.type === "text-chunks" || record.type === "reasoning-chunks" || record.type === "tool-call-chunks"

/** The run a row stands for, or what is wrong with the row: it is taken whole or not at all. */
export const runOf = (record: { readonly [key: string]: unknown }): ChunkRun | string => {
  const { data, seq0, time0, type } = record
  if (Object.keys(record).length !== 4) return "a row of chunks has exactly type, seq0, time0 and data"
  if (!isCount(seq0)) return "seq0 is not a non-negative whole number"
  if (!Number.isSafeInteger(time0)) return "time0 is not a whole number of milliseconds"
  if (typeof data !== "object" || data === null) return "data is not an object"
  const { args, dt, id, index, name, step, texts: plain, turn, ...rest } = data as { readonly [key: string]: unknown }
  if (!isCount(turn) || !isCount(step) || !isCount(index)) return "turn, step or index is not a whole number"
  const isToolCall = type === "tool-call-chunks"
  const [texts, other] = isToolCall ? [args, plain] : [plain, args ?? id ?? name]
  if (other !== undefined || Object.keys(rest).length > 0) return `${type} has members that are not its own`
  if (!isStrings(texts) || texts.length === 0) return "the fragments are not a list of strings"
  if (!Array.isArray(dt) || dt.length !== texts.length - 1)
    return "dt does not have one gap less than there are fragments"
  const times = timesOf(time0 as number, dt)
  if (times === undefined) return "dt holds something else than whole numbers of milliseconds"
  const base = { turn, step, index, seq: seq0, times, texts }
  if (!isToolCall) return { kind: type === "text-chunks" ? "text-delta" : "reasoning-delta", ...base }
  if (typeof id !== "string" || (name !== undefined && typeof name !== "string")) return "id or name is not a string"
  return { kind: "tool-call-delta", ...base, id: CallId(id), name }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const isStrings = (value: unknown): value is Array<string> =>
  Array.isArray(value) && value.every((item) => typeof item === "string")

const timesOf = (time0: number, dt: ReadonlyArray<unknown>): Array<number> | undefined => {
  const times = [time0]
  let time = time0
  for (const gap of dt) {
    if (typeof gap !== "number") return undefined
    time += gap
    if (!Number.isSafeInteger(time)) return undefined
    times.push(time)
  }
  return times
}
