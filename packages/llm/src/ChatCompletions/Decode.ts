/**
 * The events of a chat-completions stream, taken apart. Lenient per field: a field that does not fit is dropped, never the stream.
 *
 * Plain mutable code, because it runs once per token. What the pieces become is the sink's: the chunks of an answer, or clean events
 * for a library.
 */
import type { TokenUsage } from "@dsh/protocol/StreamChunk"
import { EventReader } from "./EventReader.ts"
import type { Failures } from "./EventReader.ts"
import { isRecord, text } from "../Lenient.ts"
import type { Raw } from "../Lenient.ts"
import { Template } from "./Template.ts"
import type { Kind } from "./Template.ts"
import * as Usage from "./Usage.ts"

/** What takes the pieces of an answer. */
export interface Sink<A> {
  /** Counts the pieces that carried content. */
  readonly progress: number
  text(piece: string): void
  /** `field` is the name the provider has for it. */
  reasoning(piece: string, field: Exclude<Kind, "content">): void
  toolCall(delta: unknown): void
  /** Opaque state that belongs to the reasoning. */
  details?(details: unknown): void
  usage(usage: TokenUsage): void
  finish(reason: string): void
  take(): Array<A>
  complete(): void
}

export class Decoder<A> extends EventReader<A> {
  readonly #sink: Sink<A>
  readonly #template = new Template()
  /** What the event at hand brought: how many pieces, and the field of the last one that can be a template. */
  #pieces = 0
  #kind: Kind | undefined

  constructor(sink: Sink<A>, failures: Failures) {
    super(failures)
    this.#sink = sink
  }

  get progress(): number {
    return this.#sink.progress
  }

  take(): Array<A> {
    return this.#sink.take()
  }

  isAnswer(document: Raw): boolean {
    return "choices" in document
  }

  override push(data: string): void {
    const piece = this.done || this.failure !== undefined ? undefined : this.#template.read(data)
    if (piece === undefined) return super.push(data)
    const { kind } = this.#template
    if (kind === "content") this.#sink.text(piece)
    else this.#sink.reasoning(piece, kind)
  }

  protected doneMark(): void {
    this.done = true
  }

  protected closing(): void {
    this.#sink.complete()
  }

  protected event(value: Raw, data: string): void {
    const usage = Usage.parse(value.usage)
    if (usage !== undefined) this.#sink.usage(usage)
    const choice = choiceOf(value.choices)
    if (choice === undefined) return
    this.#pieces = 0
    const delta = isRecord(choice.delta) ? choice.delta : choice.message
    if (isRecord(delta)) this.#delta(delta)
    const finish = text(choice.finish_reason)
    if (finish !== undefined) {
      this.finish = finish
      this.#sink.finish(finish)
    }
    if (usage === undefined && finish === undefined && this.#pieces === 1 && this.#kind !== undefined)
      this.#template.learn(data, this.#kind)
  }

  #delta(delta: Raw): void {
    const field = text(delta.reasoning_content) === undefined ? "reasoning" : "reasoning_content"
    const reasoning = text(delta[field])
    if (reasoning !== undefined) {
      this.#pieces++
      this.#kind = field
      this.#sink.reasoning(reasoning, field)
    }
    const content = typeof delta.content === "string" ? delta.content : partsOf(delta.content)
    if (content !== "") {
      this.#pieces++
      this.#kind = "content"
      this.#sink.text(content)
    }
    if (Array.isArray(delta.tool_calls)) {
      for (const item of delta.tool_calls) {
        this.#pieces++
        this.#kind = undefined
        this.#sink.toolCall(item)
      }
    }
    if (delta.reasoning_details !== undefined) {
      this.#pieces++
      this.#sink.details?.(delta.reasoning_details)
    }
  }
}

// Only one choice is ever asked for; another one would be a second answer.
const choiceOf = (choices: unknown): Raw | undefined => {
  if (!Array.isArray(choices)) return undefined
  const [first]: ReadonlyArray<unknown> = choices
  if (choices.length === 1 && isRecord(first)) return first
  return choices.find((choice): choice is Raw => isRecord(choice) && (choice.index === 0 || choice.index === undefined))
}

const partsOf = (content: unknown): string =>
  Array.isArray(content)
    ? content.map((part: unknown) => (isRecord(part) && typeof part.text === "string" ? part.text : "")).join("")
    : ""
