/**
 * What all streams of events have in common, whatever their dialect: events that are none, events that a careless server ran together,
 * events that are no JSON, and errors in the midst of an answer.
 */
import type { LlmError } from "../LlmError.ts"
import { isRecord, text } from "../Lenient.ts"
import type { Raw } from "../Lenient.ts"

export interface Failures {
  /** The failure behind an error that arrives as an event. */
  readonly failure: (error: unknown) => LlmError
  /** The failure of an event that cannot be read; `undefined` skips it. */
  readonly malformed: (data: string) => LlmError | undefined
}

/** Turns events into outputs of type `A`. */
export abstract class EventReader<A> {
  /** The answer is over; whatever follows is ignored. */
  done = false
  /** The last finish reason the provider named. */
  finish: string | undefined
  /** Why the stream cannot go on. */
  failure: LlmError | undefined

  readonly #failures: Failures

  constructor(failures: Failures) {
    this.#failures = failures
  }

  /** Counts the pieces of the answer. */
  abstract readonly progress: number

  /** What was read since the last call. */
  abstract take(): Array<A>

  /** Whether a whole JSON document is an answer that was not streamed. */
  abstract isAnswer(document: Raw): boolean

  /** An event that is an object and no error. */
  protected abstract event(value: Raw, data: string): void

  /** What `[DONE]` means. */
  protected abstract doneMark(): void

  /** What is left to say when the answer is known to be complete. */
  protected abstract closing(): void

  /** Takes the data of one event. */
  push(data: string): void {
    if (this.done || this.failure !== undefined) return
    const payload = data.trim()
    // Proxies have been seen to wrap their comments into events.
    if (payload === "" || payload.startsWith(":")) return
    if (payload === "[DONE]") return this.doneMark()
    const parsed = parse(payload)
    if (parsed === undefined) return this.#lines(payload)
    const { value } = parsed
    if (!isRecord(value)) return
    const error = errorOf(value)
    if (error === undefined) this.event(value, data)
    else this.fail(error)
  }

  /** Call once, when the answer is known to be complete. */
  complete(): void {
    this.done = true
    this.closing()
  }

  /** The provider reports an error. */
  protected fail(error: unknown): void {
    this.failure = this.#failures.failure(error)
  }

  // A server that separates events by single line breaks makes one event of many.
  #lines(payload: string): void {
    const lines = payload.split("\n")
    if (lines.length > 1 && lines.every((line) => line === "[DONE]" || line === "" || parse(line) !== undefined)) {
      for (const line of lines) this.push(line)
      return
    }
    this.failure = this.#failures.malformed(payload)
  }
}

const parse = (payload: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(payload) }
  } catch {
    return undefined
  }
}

/** The error an event carries, in any of the places where providers put it. */
export const errorOf = (value: Raw): unknown => {
  if (isRecord(value.error) || text(value.error) !== undefined) return value.error
  return value.object === "error" || value.type === "error" ? value : undefined
}
