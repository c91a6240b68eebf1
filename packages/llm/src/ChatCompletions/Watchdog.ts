/**
 * Two clocks on one response: how long nothing at all arrived, and how long nothing of the answer arrived.
 *
 * Providers keep the connection of a queued or hung request alive with comments, so bytes alone prove nothing. Marking is a plain
 * assignment per network read; whoever guards the response asks now and then.
 */
import type * as Clock from "effect/Clock"

/** All in milliseconds. */
export interface Limits {
  /** Longest silence: no byte, comments included. */
  readonly transportIdle: number
  /** Longest pause between two pieces of the answer, once it has begun. */
  readonly contentIdle: number
  /** Longest wait for the first piece of the answer, whatever else arrives. */
  readonly queued: number
}

/** As adapters are configured; in milliseconds. */
export interface Timeouts {
  /** Longest silence of the connection, connecting included. Default 300 000. */
  readonly streamIdleTimeoutMs?: number
  /** Longest pause within an answer that has begun. Default 120 000. */
  readonly contentIdleTimeoutMs?: number
  /** Longest wait for an answer to begin while the connection is kept alive. Default 600 000. */
  readonly queueTimeoutMs?: number
}

export const limits = (timeouts: Timeouts): Limits => ({
  transportIdle: timeouts.streamIdleTimeoutMs ?? 300_000,
  contentIdle: timeouts.contentIdleTimeoutMs ?? 120_000,
  queued: timeouts.queueTimeoutMs ?? 600_000
})

/** Which clock ran out, and its limit in milliseconds. */
export interface Expiry {
  readonly clock: keyof Limits
  readonly limit: number
}

export class Watchdog {
  readonly #limits: Limits
  readonly #clock: Clock.Clock
  readonly #started: number
  #bytes: number
  #content: number | undefined
  #pausedAt: number | undefined
  #paused = 0

  constructor(limits: Limits, clock: Clock.Clock) {
    this.#limits = limits
    this.#clock = clock
    this.#started = this.#bytes = this.#time()
  }

  /** Bytes arrived; `content` when a piece of the answer was among them. */
  mark(content: boolean): void {
    this.#bytes = this.#time()
    if (content) this.#content = this.#bytes
  }

  /** Time stands still from here on: the consumer is not waiting for the provider. */
  pause(): void {
    this.#pausedAt ??= this.#clock.unsafeCurrentTimeMillis()
  }

  /** Time goes on: the consumer waits. */
  resume(): void {
    if (this.#pausedAt === undefined) return
    this.#paused += this.#clock.unsafeCurrentTimeMillis() - this.#pausedAt
    this.#pausedAt = undefined
  }

  /** Milliseconds until a limit can be reached at the earliest, whatever arrives meanwhile; above 0 unless one has been. */
  remaining(): number {
    const { contentIdle, queued, transportIdle } = this.#limits
    const answer = this.#content === undefined ? this.#started + queued : this.#content + contentIdle
    const left = Math.min(answer, this.#bytes + transportIdle) - this.#time()
    // The answer may begin, and bring the shorter limit into force, at any moment.
    return Math.min(left, contentIdle, queued, transportIdle)
  }

  /** The limit that has been reached, if any. */
  expiry(): Expiry | undefined {
    const { contentIdle, queued, transportIdle } = this.#limits
    const now = this.#time()
    if (now - this.#bytes >= transportIdle) return { clock: "transportIdle", limit: transportIdle }
    if (this.#content !== undefined) {
      return now - this.#content >= contentIdle ? { clock: "contentIdle", limit: contentIdle } : undefined
    }
    return now - this.#started >= queued ? { clock: "queued", limit: queued } : undefined
  }

  /** In milliseconds of waiting. */
  #time(): number {
    return (this.#pausedAt ?? this.#clock.unsafeCurrentTimeMillis()) - this.#paused
  }
}
