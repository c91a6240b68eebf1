/**
 * What the server has seen, and a way to wait for it without polling.
 */
import * as Effect from "effect/Effect"
import type { ChatRequest } from "../ChatRequest.ts"
import type { Violation } from "../StrictProvider.ts"

/** How an exchange ended; `open` while it lasts. `closed-early` is the client hanging up before the response was complete. */
export type Outcome = "open" | "completed" | "closed-early" | "reset"

export interface Recorded {
  readonly index: number
  /** The path as requested, such as `/chat/completions` or `/v1/messages`. */
  readonly path: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** The body as received; empty when the server was told not to keep bodies. */
  readonly body: Uint8Array
  /** The parsed body; `undefined` when it was not JSON or is not kept. */
  readonly json: unknown
  /** The same, read leniently; `undefined` when bodies are not kept. */
  readonly request: ChatRequest | undefined
  /** The client's port: equal for requests that came over one connection. */
  readonly remotePort: number
  /** Milliseconds since the epoch, when the body was complete. */
  readonly receivedAt: number
  readonly violations: ReadonlyArray<Violation>
  readonly outcome: Outcome
}

/** One list of requests and the fibers that wait for it to change. */
export class Recorder {
  readonly #entries: Array<Recorded> = []
  readonly #waiting = new Set<() => void>()

  add(entry: Recorded): void {
    this.#entries[entry.index] = entry
    this.#notify()
  }

  settle(index: number, outcome: Outcome): void {
    const entry = this.#entries[index]
    if (entry === undefined || entry.outcome !== "open") return
    this.#entries[index] = { ...entry, outcome }
    this.#notify()
  }

  all(): ReadonlyArray<Recorded> {
    return this.#entries.slice()
  }

  closedEarly(): ReadonlyArray<Recorded> {
    return this.#entries.filter((entry) => entry.outcome === "closed-early")
  }

  /** Resumes with the first value of `read` that has at least `count` elements. */
  await(read: () => ReadonlyArray<Recorded>, count: number): Effect.Effect<ReadonlyArray<Recorded>> {
    return Effect.async((resume) => {
      const check = () => {
        const entries = read()
        if (entries.length < count) return
        this.#waiting.delete(check)
        resume(Effect.succeed(entries))
      }
      this.#waiting.add(check)
      check()
      return Effect.sync(() => this.#waiting.delete(check))
    })
  }

  #notify(): void {
    for (const check of [...this.#waiting]) check()
  }
}
