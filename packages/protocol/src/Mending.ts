/**
 * What lost events leave behind in a log, put right: calls without a result, results without a call, turns and steps without one of
 * their ends. What can be told for sure is written where events were lost, and what refers to lost events is lost with them. So the log
 * is again one that a session could have written and that every provider takes.
 */
import { isRun } from "./ChunkRun.ts"
import type { LogEntry } from "./ChunkRun.ts"
import * as Conversation from "./Conversation.ts"
import type { CallId } from "./Ids.ts"
import * as Inbox from "./Inbox.ts"
import { answer, notStarted } from "./Interrupted.ts"
import { lost } from "./Numbering.ts"
import type { EventOf, SessionEvent } from "./SessionEvent.ts"
import * as Either from "effect/Either"

export type Change =
  /** The event is `session/lost` now, because it needs one that is lost. */
  | { readonly kind: "orphaned"; readonly seq: number; readonly type: string; readonly reason: string }
  /** Where an event was lost stands another one now. */
  | { readonly kind: "filled"; readonly seq: number; readonly type: string }
  /** The answer of the model asks no longer for these calls, whose results are lost. */
  | { readonly kind: "unasked"; readonly seq: number; readonly calls: ReadonlyArray<CallId> }

export interface Mended {
  readonly entries: ReadonlyArray<LogEntry>
  /** None when nothing had to be put right. */
  readonly changes: ReadonlyArray<Change>
}

/**
 * @param entries Numbered from 0 without gaps; see `Numbering`. An open turn at the end stays open: see `Interrupted`.
 * @param inherited The number of events that were inherited from another session, whose pending input does not count.
 */
export const mend = (entries: ReadonlyArray<LogEntry>, inherited = 0): Mended => {
  const mender = new Mender(inherited)
  for (const entry of entries) mender.take(entry)
  return { entries: mender.entries, changes: mender.changes }
}

interface Place {
  readonly turn?: number
  readonly step?: number
}

class Mender {
  readonly entries: Array<LogEntry> = []
  readonly changes: Array<Change> = []
  private readonly inherited: number
  private readonly conversation = Conversation.empty()
  private inbox = Inbox.empty
  private open: Place = {}
  /** Calls of the last answer that have no result yet, with the seq of their `tool/call`. */
  private readonly asked = new Map<CallId, number | undefined>()
  /** Where in `entries` they were asked for. */
  private askedAt = 0

  constructor(inherited: number) {
    this.inherited = inherited
  }

  take(entry: LogEntry): void {
    if (isRun(entry)) {
      this.bridge(entry)
      this.entries.push(entry)
      return
    }
    if (entry.type !== "session/lost") this.bridge(entry)
    const reason = this.misfit(entry)
    if (reason === undefined) this.put(this.entries.length, entry)
    else {
      this.entries.push(lost(entry.seq, entry.time))
      this.changes.push({ kind: "orphaned", seq: entry.seq, type: entry.type, reason })
    }
  }

  private misfit(event: SessionEvent): string | undefined {
    const call = callOf(event)
    if (call !== undefined && !this.asked.has(call)) return `nobody asked for call ${call}`
    const surface = this.conversation.check(event)
    if (Either.isLeft(surface)) return surface.left.reason
    const inbox = event.seq < this.inherited ? Either.right(this.inbox) : Inbox.apply(this.inbox, event)
    if (Either.isLeft(inbox)) return inbox.left.reason
    this.inbox = inbox.right
    return undefined
  }

  private put(index: number, event: SessionEvent): void {
    this.entries[index] = event
    this.conversation.apply(event)
    this.follow(index, event)
  }

  private follow(index: number, event: SessionEvent): void {
    switch (event.type) {
      case "turn/start":
        this.open = { turn: event.data.turn }
        break
      case "turn/end":
        this.open = {}
        break
      case "step/start":
        this.open = event.data
        break
      case "step/end":
        this.open = { turn: event.data.turn }
        break
      case "assistant/message":
        if (event.surfaceOp !== "append") break
        this.asked.clear()
        this.askedAt = index
        for (const block of event.data.message.content) {
          if (block.type === "tool-call") this.asked.set(block.id, undefined)
        }
        break
      case "tool/call":
        if (this.asked.has(event.data.callId)) this.asked.set(event.data.callId, event.seq)
        break
      case "tool/result":
        this.asked.delete(event.data.message.source.callId)
        break
    }
  }

  /** Fills lost places before `entry` with what has to have been there. */
  private bridge(entry: LogEntry): void {
    const brackets = this.brackets(placeOf(entry))
    const gap =
      brackets.length === 0
        ? []
        : this.lostSince(this.entries.findLastIndex((before) => placeOf(before) !== undefined) + 1)
    if (this.asked.size > 0 && !isRun(entry) && leavesCalls(entry)) {
      const places = this.lostSince(this.askedAt + 1)
      const reserved = places.length >= this.asked.size + brackets.length ? brackets.length : 0
      this.answer(places.slice(0, places.length - reserved))
    }
    if (!isRun(entry) && entry.type === "tool/result") this.start(entry)
    const free = gap.filter((index) => isLost(this.entries[index]!))
    if (free.length < brackets.length) return
    brackets.forEach((bracket, i) => this.fill(free[free.length - brackets.length + i]!, bracket))
  }

  /** A result tells that its call was started, and the answer of the model what it was. */
  private start({ data }: EventOf<"tool/result">): void {
    const { callId } = data.message.source
    const { error, step, turn } = data
    if (!this.asked.has(callId) || this.asked.get(callId) !== undefined || error?.code === notStarted.code) return
    const [place] = this.lostSince(this.askedAt + 1)
    const block = this.answerOfModel.data.message.content.find(
      (each) => each.type === "tool-call" && each.id === callId
    )
    if (place === undefined || block?.type !== "tool-call") return
    const { arguments: args, name } = block
    this.fill(place, (seq, time) => ({
      type: "tool/call",
      seq,
      time,
      data: { turn, step, callId, name, arguments: args }
    }))
  }

  private get answerOfModel(): EventOf<"assistant/message"> {
    return this.entries[this.askedAt] as EventOf<"assistant/message">
  }

  private answer(places: ReadonlyArray<number>): void {
    const message = this.answerOfModel
    const { step, turn } = message.data
    const calls = [...this.asked].slice(0, places.length)
    const first = places.length - calls.length
    calls.forEach(([id, call], i) =>
      this.fill(places[first + i]!, (seq, time) => answer({ turn, step, id, time, seq }, call))
    )
    if (this.asked.size === 0) return
    const without = new Set(this.asked.keys())
    this.asked.clear()
    const content = message.data.message.content.filter((block) => block.type !== "tool-call" || !without.has(block.id))
    this.entries[this.askedAt] = {
      ...message,
      data: { ...message.data, message: { ...message.data.message, content } }
    }
    this.changes.push({ kind: "unasked", seq: message.seq, calls: [...without] })
  }

  private fill(index: number, make: (seq: number, time: number) => SessionEvent): void {
    const { seq, time } = this.entries[index] as EventOf<"session/lost">
    const event = make(seq, time)
    this.put(index, event)
    this.changes.push({ kind: "filled", seq, type: event.type })
  }

  private lostSince(from: number): Array<number> {
    const places: Array<number> = []
    for (let i = from; i < this.entries.length; i++) if (isLost(this.entries[i]!)) places.push(i)
    return places
  }

  /** What has to come between the place that is open and the one that an event needs. */
  private brackets(needed: Place | undefined): ReadonlyArray<(seq: number, time: number) => SessionEvent> {
    if (needed === undefined) return []
    const { step, turn } = this.open
    const out: Array<(seq: number, time: number) => SessionEvent> = []
    const leavesTurn = turn !== undefined && turn !== needed.turn
    if (turn !== undefined && step !== undefined && (leavesTurn || step !== needed.step)) {
      out.push((seq, time) => ({ type: "step/end", seq, time, data: { turn, step } }))
    }
    if (leavesTurn) {
      out.push((seq, time) => ({ type: "turn/end", seq, time, data: { turn, reason: { kind: "interrupted" } } }))
    }
    const { step: inStep, turn: inTurn } = needed
    if (inTurn === undefined) return out
    if (turn !== inTurn) out.push((seq, time) => ({ type: "turn/start", seq, time, data: { turn: inTurn } }))
    if (inStep !== undefined && (turn !== inTurn || step !== inStep)) {
      out.push((seq, time) => ({ type: "step/start", seq, time, data: { turn: inTurn, step: inStep } }))
    }
    return out
  }
}

const isLost = (entry: LogEntry): boolean => !isRun(entry) && entry.type === "session/lost"

/** The call that an event starts or answers. */
const callOf = (event: SessionEvent): CallId | undefined => {
  if (event.type === "tool/call") return event.data.callId
  return event.type === "tool/result" && event.surfaceOp === "append" ? event.data.message.source.callId : undefined
}

/** What has to be open right before an event; nothing when it may be anywhere. */
const placeOf = (entry: LogEntry): Place | undefined => {
  if (isRun(entry)) return { turn: entry.turn, step: entry.step }
  switch (entry.type) {
    case "turn/start":
      return {}
    case "turn/end":
    case "step/start":
      return { turn: entry.data.turn }
    case "assistant/message":
    case "tool/result":
      return entry.surfaceOp === "append" ? { turn: entry.data.turn, step: entry.data.step } : undefined
    case "step/end":
    case "assistant/chunk":
    case "tool/call":
    case "request/sent":
      return { turn: entry.data.turn, step: entry.data.step }
    default:
      return undefined
  }
}

/** Whether no result may come any more. */
const leavesCalls = ({ surfaceOp, type }: SessionEvent): boolean => {
  switch (type) {
    case "turn/start":
    case "turn/end":
    case "step/start":
    case "step/end":
      return true
    case "user/message":
    case "assistant/message":
      return surfaceOp === "append"
    default:
      return false
  }
}
