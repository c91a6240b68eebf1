/**
 * Runs of stream deltas, packed. A model answer is thousands of tiny events that differ in one string; kept as columns they cost a
 * tenth of the memory and of the disk, and unpack to exactly the same events.
 */
import type { CallId } from "./Ids.ts"
import type { EventOf } from "./SessionEvent.ts"
import type { Delta, StreamChunk } from "./StreamChunk.ts"

interface RunOf<Kind extends Delta["type"]> {
  readonly kind: Kind
  readonly turn: number
  readonly step: number
  readonly index: number
  readonly seq: number
  /** One entry per delta. */
  readonly times: Array<number>
  readonly texts: Array<string>
}

export interface TextRun extends RunOf<"text-delta"> {}
export interface ReasoningRun extends RunOf<"reasoning-delta"> {}
export interface ToolCallRun extends RunOf<"tool-call-delta"> {
  readonly id: CallId
  /** Present on every delta of the run or on none. */
  readonly name: string | undefined
}

/** Consecutive deltas of one kind, step and block. */
export type ChunkRun = TextRun | ReasoningRun | ToolCallRun

/** A unit of the log: an event, or a run that stands for several. */
export type LogEntry = EventOf<keyof import("./SessionEvent.ts").SessionEvents> | ChunkRun

export const isRun = (entry: LogEntry): entry is ChunkRun => "kind" in entry

/** How many events an entry stands for. */
export const sizeOf = (entry: LogEntry): number => (isRun(entry) ? entry.texts.length : 1)

const isDelta = (chunk: StreamChunk): chunk is Delta =>
  chunk.type === "text-delta" || chunk.type === "reasoning-delta" || chunk.type === "tool-call-delta"

const textOf = (delta: Delta): string => (delta.type === "tool-call-delta" ? delta.argumentsDelta : delta.text)

/** Whether `delta` may join `run`, given that it follows it in the log. */
const joins = (run: ChunkRun, turn: number, step: number, delta: Delta): boolean =>
  run.kind === delta.type &&
  run.index === delta.index &&
  run.turn === turn &&
  run.step === step &&
  (run.kind !== "tool-call-delta" ||
    (delta.type === "tool-call-delta" && run.id === delta.id && run.name === delta.name))

const start = (turn: number, step: number, seq: number, delta: Delta): ChunkRun => {
  const base = { turn, step, index: delta.index, seq, times: [], texts: [] }
  return delta.type === "tool-call-delta"
    ? { kind: delta.type, ...base, id: delta.id, name: delta.name }
    : { kind: delta.type, ...base }
}

/** The entries of one batch of chunks that arrived together. `seq` is that of the first. */
export const pack = (
  turn: number,
  step: number,
  seq: number,
  time: number,
  chunks: ReadonlyArray<StreamChunk>
): Array<LogEntry> => {
  const out: Array<LogEntry> = []
  let run: ChunkRun | undefined
  for (const chunk of chunks) {
    if (isDelta(chunk)) {
      if (run === undefined || !joins(run, turn, step, chunk)) {
        run = start(turn, step, seq, chunk)
        out.push(run)
      }
      run.times.push(time)
      run.texts.push(textOf(chunk))
    } else {
      run = undefined
      out.push({ type: "assistant/chunk", seq, time, data: { turn, step, chunk } })
    }
    seq++
  }
  return out
}

/** Appends `next` to `run` when it continues it, in place. */
export const extend = (run: ChunkRun, next: ChunkRun): boolean => {
  if (
    run.kind !== next.kind ||
    run.index !== next.index ||
    run.step !== next.step ||
    run.turn !== next.turn ||
    run.seq + run.texts.length !== next.seq ||
    (run.kind === "tool-call-delta" &&
      next.kind === "tool-call-delta" &&
      (run.id !== next.id || run.name !== next.name))
  ) {
    return false
  }
  for (let i = 0; i < next.texts.length; i++) {
    run.times.push(next.times[i]!)
    run.texts.push(next.texts[i]!)
  }
  return true
}

/** The `offset`-th delta of a run. */
export const chunkAt = (run: ChunkRun, offset: number): Delta => {
  const text = run.texts[offset] ?? ""
  if (run.kind !== "tool-call-delta") return { type: run.kind, index: run.index, text }
  return {
    type: run.kind,
    index: run.index,
    id: run.id,
    ...(run.name !== undefined && { name: run.name }),
    argumentsDelta: text
  }
}

/** The `offset`-th event of a run. */
export const eventAt = (run: ChunkRun, offset: number): EventOf<"assistant/chunk"> => ({
  type: "assistant/chunk",
  seq: run.seq + offset,
  time: run.times[offset] ?? 0,
  data: { turn: run.turn, step: run.step, chunk: chunkAt(run, offset) }
})
