/**
 * The events of a dialect that names their types, passed on one by one with a framing that every parser understands. What a library
 * would trip over is left out or completed.
 */
import type { TokenUsage } from "@dsh/protocol/StreamChunk"
import { EventReader } from "../ChatCompletions/EventReader.ts"
import type { Failures } from "../ChatCompletions/EventReader.ts"
import { text } from "../Lenient.ts"
import type { Raw } from "../Lenient.ts"
import type { Dialect, Meaning } from "./Dialect.ts"
import { isEnough } from "./Fragments.ts"

export class EventRelay extends EventReader<string> {
  progress = 0
  readonly #dialect: Dialect
  #usage: Raw = {}
  #named: string | undefined
  #held: (NonNullable<Meaning["fragment"]> & { readonly type: string }) | undefined
  /** Of the arguments so far, by call. */
  readonly #lengths = new Map<unknown, number>()
  #out: Array<string> = []

  constructor(dialect: Dialect, failures: Failures) {
    super(failures)
    this.#dialect = dialect
  }

  /** As it was reported, in our buckets. */
  get reported(): TokenUsage | undefined {
    return this.#dialect.usage(this.#usage)
  }

  /** Nobody has been seen to answer these with a document. */
  isAnswer(): boolean {
    return false
  }

  take(): Array<string> {
    const out = this.#out
    this.#out = []
    return out
  }

  protected event(value: Raw): void {
    const type = text(value.type)
    if (type === undefined) return
    const { error, event, finish, fragment, isContent, isLast, usage } = this.#dialect.read(value, type)
    if (error !== undefined) return this.fail(error)
    if (usage !== undefined) this.#count(usage)
    if (finish !== undefined) this.#named = finish
    if (isContent === true) this.progress++
    if (fragment !== undefined) return this.#hold(type, fragment)
    if (event !== undefined) this.#emit(type, event)
    if (isLast !== true) return
    this.finish = this.#named
    this.done = true
  }

  /** Only its last event ends it. */
  protected doneMark(): void {}

  protected closing(): void {}

  #hold(type: string, fragment: NonNullable<Meaning["fragment"]>): void {
    if (this.#held !== undefined && this.#held.of !== fragment.of) this.#release()
    const text = (this.#held?.text ?? "") + fragment.text
    this.#held = { ...fragment, type, text }
    const whole = (this.#lengths.get(fragment.of) ?? 0) + fragment.text.length
    this.#lengths.set(fragment.of, whole)
    if (isEnough(text, whole)) this.#release()
  }

  #release(): void {
    const held = this.#held
    this.#held = undefined
    if (held !== undefined) this.#emit(held.type, held.event(held.text))
  }

  #emit(type: string, event: Raw): void {
    if (this.#held !== undefined) this.#release()
    this.#out.push(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`)
  }

  // Later counts stand for the whole answer, but not every event has every count.
  #count(usage: Raw): void {
    const known = Object.entries(usage).filter(([, value]) => value !== null && value !== undefined)
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) }
  }
}
