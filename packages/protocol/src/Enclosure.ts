/**
 * The rules that span several events of a log: turns and steps are numbered and nested, whatever belongs to a step is inside of it,
 * every tool call is asked for, started and answered once, and every answer of a model follows the chunk grammar.
 *
 * A check for tests, for `--check-invariants` and for stored logs. Nothing in the product depends on it.
 */
import { ChunkGrammar } from "./ChunkGrammar.ts"
import type { CallId } from "./Ids.ts"
import type { EventOf, SessionEvent } from "./SessionEvent.ts"

type CallState = "asked" | "started" | "answered"

interface At {
  readonly turn: number
  readonly step: number
}

/** Follows one log from its first event. */
export class Enclosure {
  #turn = 0
  #step = 0
  #inTurn = false
  #inStep = false
  #calls = new Map<CallId, CallState>()
  #answer = new ChunkGrammar()

  /** Why `event` may not come next; nothing when it may. Changes nothing. */
  problem(event: SessionEvent): string | undefined {
    switch (event.type) {
      case "turn/start":
        if (this.#inTurn) return `turn ${event.data.turn} begins inside of turn ${this.#turn}`
        return numbered("turn", event.data.turn, this.#turn + 1)
      case "turn/end":
        if (this.#inStep) return `turn ${event.data.turn} ends inside of step ${this.#step}`
        return this.#outsideTurn() ?? numbered("turn", event.data.turn, this.#turn)
      case "step/start":
        if (this.#inStep) return `step ${event.data.step} begins inside of step ${this.#step}`
        return (
          this.#outsideTurn() ??
          numbered("turn", event.data.turn, this.#turn) ??
          numbered("step", event.data.step, this.#step + 1)
        )
      case "session/rewound":
        return this.#inTurn ? `the conversation is rewound inside of turn ${this.#turn}` : undefined
      case "step/end":
        return this.#outsideStep(event.data) ?? this.#unanswered()
      case "request/header":
      case "request/context":
        return this.#outsideTurn()
      case "request/sent":
        return this.#outsideStep(event.data)
      case "assistant/chunk":
        return this.#outsideStep(event.data) ?? this.#answer.problem(event.data.chunk)
      case "assistant/message":
        return this.#outsideStep(event.data) ?? this.#message(event)
      case "tool/call":
        return this.#outsideStep(event.data) ?? this.#start(event.data.callId)
      case "tool/result":
        return this.#result(event)
      default:
        return undefined
    }
  }

  /** Goes on behind `event`. */
  apply(event: SessionEvent): void {
    switch (event.type) {
      case "turn/start":
        this.#turn = event.data.turn
        this.#step = 0
        this.#inTurn = true
        break
      case "turn/end":
        this.#inTurn = false
        break
      case "step/start":
        this.#step = event.data.step
        this.#inStep = true
        break
      case "step/end":
        this.#inStep = false
        this.#calls.clear()
        this.#answer = new ChunkGrammar()
        break
      case "request/sent":
        // What a failed attempt left behind stays in the log and belongs to nothing.
        this.#answer = new ChunkGrammar()
        break
      case "assistant/chunk":
        this.#answer.apply(event.data.chunk)
        break
      case "assistant/message":
        for (const block of event.data.message.content) {
          if (block.type === "tool-call" && event.surfaceOp === "append") this.#calls.set(block.id, "asked")
        }
        break
      case "tool/call":
        this.#calls.set(event.data.callId, "started")
        break
      case "tool/result":
        if (event.surfaceOp === "append") this.#calls.set(event.data.message.source.callId, "answered")
        break
    }
  }

  #outsideTurn(): string | undefined {
    return this.#inTurn ? undefined : "it belongs into a turn, and none is open"
  }

  #outsideStep({ step, turn }: At): string | undefined {
    if (!this.#inStep) return "it belongs into a step, and none is open"
    return numbered("turn", turn, this.#turn) ?? numbered("step", step, this.#step)
  }

  #message({ data, surfaceOp }: EventOf<"assistant/message">): string | undefined {
    if (surfaceOp !== "append" || data.interrupted === true || this.#answer.finished) return undefined
    return "the answer of the model has no finish"
  }

  #start(id: CallId): string | undefined {
    const state = this.#calls.get(id)
    if (state === undefined) return `nobody asked for call ${id} in this step`
    return state === "asked" ? undefined : `call ${id} is started twice`
  }

  #result(event: EventOf<"tool/result">): string | undefined {
    if (event.surfaceOp !== "append") return this.#outsideTurn()
    const id = event.data.message.source.callId
    const outside = this.#outsideStep(event.data)
    if (outside !== undefined) return outside
    const state = this.#calls.get(id)
    if (state === undefined) return `nobody asked for call ${id} in this step`
    if (state === "answered") return `call ${id} is answered twice`
    const neverStarted = event.data.error?.code === "TOOL_NOT_STARTED"
    return state === "asked" && !neverStarted ? `call ${id} is answered before it was started` : undefined
  }

  #unanswered(): string | undefined {
    for (const [id, state] of this.#calls) if (state !== "answered") return `call ${id} is not answered`
    return undefined
  }
}

const numbered = (what: string, found: number, expected: number): string | undefined =>
  found === expected ? undefined : `it names ${what} ${found} where ${what} ${expected} belongs`
