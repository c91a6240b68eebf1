/**
 * What a session has used, counted from its log: every request once, whatever became of it. A failed attempt is billed like any other,
 * and a provider may report its usage in the stream, with the answer, or not at all.
 */
import type { SessionEvent } from "./SessionEvent.ts"
import type { TokenUsage } from "./StreamChunk.ts"

/** Tokens, in buckets that do not overlap, but for `reasoning`, which is part of `output`. */
export interface Tally {
  readonly requests: number
  /** Requests that nobody reported the usage of: what they used is in none of the numbers. */
  readonly unreported: number
  /** Input that was not in the provider's cache. */
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
  readonly reasoning: number
}

export const none: Tally = {
  requests: 0,
  unreported: 0,
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  reasoning: 0
}

export const add = (a: Tally, b: Tally): Tally => ({
  requests: a.requests + b.requests,
  unreported: a.unreported + b.unreported,
  input: a.input + b.input,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
  output: a.output + b.output,
  reasoning: a.reasoning + b.reasoning
})

/** How much of the input came from the provider's cache, from 0 to 1; nothing when there was no input. */
export const cacheHitRatio = ({ cacheRead, cacheWrite, input }: Tally): number | undefined => {
  const total = input + cacheRead + cacheWrite
  return total === 0 ? undefined : cacheRead / total
}

/** A request, as it is billed. */
export interface Billed {
  /** Absent where the log does not say, as in one that is not whole. */
  readonly provider: string | undefined
  readonly model: string | undefined
  /** Where the log has it. */
  readonly seq: number
  /** When it was sent, in epoch milliseconds. */
  readonly time: number
  /** Absent: nobody reported it. */
  readonly usage: TokenUsage | undefined
}

/** Counts the events of one log, in order. */
export class Counter {
  #settled: Tally = none
  /** The request that is out, and what was reported of it so far. */
  #open: Billed | undefined
  #route: { readonly provider: string; readonly model: string } | undefined
  readonly #billed: (request: Billed) => void

  /** `billed` hears of every request once, when all that will be known of it is known. */
  constructor(billed: (request: Billed) => void = () => {}) {
    this.#billed = billed
  }

  take(event: SessionEvent): void {
    switch (event.type) {
      case "request/header":
        this.#route = event.data.header.config
        break
      case "request/sent":
        this.end()
        this.#open = this.#begun(event)
        break
      case "assistant/chunk":
        if (event.data.chunk.type === "usage" && this.#open !== undefined)
          this.#open = { ...this.#open, usage: event.data.chunk.usage }
        break
      case "assistant/message":
        // A request that is not in the log, as in one of another origin, has its usage here and nowhere else.
        if (event.surfaceOp !== "append" || event.data.usage === undefined) break
        this.#open ??= this.#begun(event)
        this.#open = { ...this.#open, usage: this.#open.usage ?? event.data.usage }
        this.end()
        break
      case "step/end":
        this.end()
        break
    }
  }

  /** Everything counted so far. */
  get tally(): Tally {
    return this.#open === undefined ? this.#settled : add(this.#settled, tallyOf(this.#open))
  }

  /** The log is over, or a part of it that is to be counted for itself. */
  end(): void {
    if (this.#open === undefined) return
    this.#settled = this.tally
    this.#billed(this.#open)
    this.#open = undefined
  }

  #begun({ seq, time }: SessionEvent): Billed {
    return { provider: this.#route?.provider, model: this.#route?.model, seq, time, usage: undefined }
  }
}

/** One request. */
export const tallyOf = ({ usage }: Pick<Billed, "usage">): Tally => ({
  requests: 1,
  unreported: usage === undefined ? 1 : 0,
  input: usage?.inputTokens ?? 0,
  cacheRead: usage?.cacheReadTokens ?? 0,
  cacheWrite: usage?.cacheWriteTokens ?? 0,
  output: usage?.outputTokens ?? 0,
  reasoning: usage?.reasoningTokens ?? 0
})

/** What all of `events` used. */
export const of = (events: Iterable<SessionEvent>): Tally => {
  const counter = new Counter()
  for (const event of events) counter.take(event)
  return counter.tally
}
