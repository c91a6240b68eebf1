/**
 * Between the reader of a response and the consumer of what was read: a small queue of plain arrays with one waiting place on each side.
 *
 * What arrives while the consumer is busy is handed over as one array. A reader that is too far ahead is told to wait.
 */
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { LlmError } from "../LlmError.ts"

/** Pieces that may wait for the consumer before the provider has to. */
const readAhead = 4096

type Taken<A> = Exit.Exit<Chunk.Chunk<A>, Option.Option<LlmError>>

export interface Listener {
  /** The consumer waits for the provider from now on. */
  readonly waits: () => void
  /** The consumer has something to do. */
  readonly served: () => void
}

export class Handover<A> {
  readonly #listener: Listener
  #pending: Array<A> = []
  #outcome: Taken<A> | undefined
  #consumer: ((taken: Taken<A>) => void) | undefined
  #reader: (() => void) | undefined

  constructor(listener: Listener) {
    this.#listener = listener
  }

  /** Nothing more will come. */
  get isEnded(): boolean {
    return this.#outcome !== undefined
  }

  /** `false` when the consumer is too far behind. */
  offer(pieces: Array<A>): boolean {
    if (pieces.length > 0) {
      if (this.#pending.length === 0) this.#pending = pieces
      else for (const piece of pieces) this.#pending.push(piece)
      this.#wake()
    }
    return this.#pending.length < readAhead
  }

  end(): void {
    this.#finish(Exit.fail(Option.none()))
  }

  fail(error: LlmError): void {
    this.#finish(Exit.fail(Option.some(error)))
  }

  failCause(cause: Cause.Cause<LlmError>): void {
    this.#finish(Exit.failCause(Cause.map(cause, Option.some)))
  }

  /** Everything that waits, then the outcome. */
  readonly take: Effect.Effect<Chunk.Chunk<A>, Option.Option<LlmError>> = Effect.suspend(() => {
    const ready = this.#next()
    if (ready !== undefined) {
      this.#listener.served()
      return ready
    }
    this.#listener.waits()
    return Effect.async((resume) => {
      this.#consumer = resume
      return Effect.sync(() => {
        this.#consumer = undefined
      })
    })
  })

  /** Ends when the consumer has taken what waits for it. */
  readonly drained: Effect.Effect<void> = Effect.async((resume) => {
    if (this.#pending.length < readAhead) return resume(Effect.void)
    this.#reader = () => resume(Effect.void)
    return Effect.sync(() => {
      this.#reader = undefined
    })
  })

  #finish(outcome: Taken<A>): void {
    this.#outcome ??= outcome
    this.#wake()
  }

  #wake(): void {
    const consumer = this.#consumer
    if (consumer === undefined) return
    const ready = this.#next()
    if (ready === undefined) return
    this.#consumer = undefined
    this.#listener.served()
    consumer(ready)
  }

  #next(): Taken<A> | undefined {
    if (this.#pending.length === 0) return this.#outcome
    const pieces = this.#pending
    this.#pending = []
    const reader = this.#reader
    this.#reader = undefined
    reader?.()
    return Exit.succeed(Chunk.unsafeFromArray(pieces))
  }
}
