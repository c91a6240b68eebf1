/**
 * What a turn lacks when its process died: the events that close it, so that the log is one that a live session could have written and
 * the model is told what became of its tool calls. Nothing of the turn is taken away.
 */
import { text } from "./Block.ts"
import { isRun, sizeOf } from "./ChunkRun.ts"
import type { LogEntry } from "./ChunkRun.ts"
import { MessageId } from "./Ids.ts"
import type { CallId } from "./Ids.ts"
import { toolResult } from "./Message.ts"
import type { EventOf, SessionEvent } from "./SessionEvent.ts"

/** Why a tool call has no result of its own. */
export interface Loss {
  readonly name: string
  readonly code: string
  readonly message: string
}

/** The call is in the log: its body may have run, to its end, in part or not at all. */
export const outcomeUnknown: Loss = {
  name: "ToolOutcomeUnknownError",
  code: "TOOL_OUTCOME_UNKNOWN",
  message:
    "the call was started and its outcome was lost; repeat it only if it reads or is idempotent, else verify what happened or ask"
}

/** The call is not in the log: it was asked for and never started. */
export const notStarted: Loss = {
  name: "ToolNotStartedError",
  code: "TOOL_NOT_STARTED",
  message: "the call was never started; it may be repeated"
}

/** What the model is told. */
export const content = ({ message }: Loss) => [text(`Error: ${message}`)]

interface Open {
  readonly turn: number
  step: number | undefined
  /** Asked for in the open step and not answered, in model order. */
  readonly unanswered: Map<CallId, { seq: number | undefined }>
}

/**
 * The events that close the open turn at the end of a log, to be appended behind it; none when no turn is open. The same log gives the
 * same events: their time is that of the last event.
 */
export const closers = (entries: ReadonlyArray<LogEntry>): ReadonlyArray<SessionEvent> => {
  const open = openTurn(entries)
  const last = entries[entries.length - 1]
  if (open === undefined || last === undefined) return []
  const { step, turn, unanswered } = open
  const time = isRun(last) ? last.times[last.times.length - 1]! : last.time
  const events: Array<SessionEvent> = []
  let seq = last.seq + sizeOf(last)
  if (step !== undefined) {
    for (const [id, call] of unanswered) events.push(answer({ turn, step, id, time, seq: seq++ }, call.seq))
    events.push({ type: "step/end", seq: seq++, time, data: { turn, step } })
  }
  events.push({ type: "turn/end", seq, time, data: { turn, reason: { kind: "interrupted" } } })
  return events
}

const recovered = "recovered-"

/** Whether the event was made for a call whose own result is lost. */
export const isRecovered = (event: SessionEvent): boolean =>
  event.type === "tool/result" && event.data.message.id.startsWith(recovered)

/** The result of a call that has none. `call`: seq of its `tool/call`, if it has one. */
export const answer = (
  at: {
    readonly turn: number
    readonly step: number
    readonly id: CallId
    readonly time: number
    readonly seq: number
  },
  call: number | undefined
): EventOf<"tool/result"> => {
  const { id, seq, step, time, turn } = at
  const loss = call === undefined ? notStarted : outcomeUnknown
  return {
    type: "tool/result",
    seq,
    time,
    data: {
      turn,
      step,
      // A call id is unique in its session, so this is as well.
      message: toolResult(MessageId(`${recovered}${id}`), id, content(loss), true),
      error: { name: loss.name, code: loss.code }
    },
    surfaceOp: "append",
    ...(call !== undefined && { sourceEventSeqs: [call] })
  }
}

const openTurn = (entries: ReadonlyArray<LogEntry>): Open | undefined => {
  let from = entries.length - 1
  for (; from >= 0; from--) {
    const entry = entries[from]!
    if (isRun(entry)) continue
    if (entry.type === "turn/end") return undefined
    if (entry.type === "turn/start") break
  }
  const start = entries[from]
  if (start === undefined || isRun(start) || start.type !== "turn/start") return undefined
  const open: Open = { turn: start.data.turn, step: undefined, unanswered: new Map() }
  for (const entry of entries.slice(from + 1)) if (!isRun(entry)) follow(open, entry)
  return open
}

const follow = (open: Open, event: SessionEvent): void => {
  switch (event.type) {
    case "step/start":
      open.step = event.data.step
      break
    case "step/end":
      open.step = undefined
      open.unanswered.clear()
      break
    case "assistant/message":
      for (const block of event.data.message.content) {
        if (block.type === "tool-call") open.unanswered.set(block.id, { seq: undefined })
      }
      break
    case "tool/call": {
      const call = open.unanswered.get(event.data.callId)
      if (call !== undefined) call.seq = event.seq
      break
    }
    case "tool/result":
      open.unanswered.delete(event.data.message.source.callId)
      break
  }
}
