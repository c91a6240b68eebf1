/**
 * The body of a successful response, read as it arrives: an event stream, or, from servers that do not stream, one JSON document.
 *
 * The first character decides, not the content type: proxies get the type wrong, and a web page must be told from a model.
 */
import { StringDecoder } from "node:string_decoder"
import type { LlmError } from "../LlmError.ts"
import * as Errors from "./Errors.ts"
import { errorOf } from "./EventReader.ts"
import type { EventReader, Failures } from "./EventReader.ts"
import { isRecord } from "../Lenient.ts"
import * as Sse from "./Sse.ts"

/** A document, or one event, longer than this, in characters, is no model response. */
const longest = 64 * 1024 * 1024

/** What the events of an answer are read with. */
export type MakeReader<A> = (failures: Failures) => EventReader<A>

export interface Options<A> {
  readonly endpoint: Errors.Endpoint
  readonly requestId: string | undefined
  readonly reader: MakeReader<A>
}

export class Body<A> {
  readonly #endpoint: Errors.Endpoint
  readonly #reader: EventReader<A>
  readonly #sse: Sse.Parser
  // Splits neither characters nor reads: the tail of a character waits for its rest.
  readonly #utf8 = new StringDecoder("utf8")
  #form: "unknown" | "events" | "document" = "unknown"
  #document = ""
  #isAtEnd = false
  #received = 0

  constructor({ endpoint, reader, requestId }: Options<A>) {
    this.#endpoint = endpoint
    this.#reader = reader({
      failure: (error) => Errors.inStream(endpoint, error, requestId),
      malformed: (data) => this.#malformed(data)
    })
    this.#sse = Sse.make((data) => this.#reader.push(data))
  }

  /** Takes one network read. */
  push(bytes: Uint8Array): void {
    this.#received += bytes.length
    this.#text(this.#utf8.write(bytes))
  }

  /** The body is over. What follows is the closing chunks, or `failure` says why there are none. */
  end(): void {
    if (this.isOver) return
    this.#isAtEnd = true
    this.#text(this.#utf8.end())
    if (this.#form === "document") return this.#endDocument()
    this.#sse.end()
    if (this.#reader.done || (this.isFinished && this.#reader.failure === undefined)) return this.#reader.complete()
    this.#reader.failure ??= this.#received === 0 ? Errors.emptyBody(this.#endpoint) : Errors.closed(this.#endpoint)
  }

  /** What was read since the last call. */
  take(): Array<A> {
    return this.#reader.take()
  }

  get failure(): LlmError | undefined {
    return this.#reader.failure
  }

  /** Counts the pieces of the answer. */
  get progress(): number {
    return this.#reader.progress
  }

  /** The provider named a finish reason: the answer is whole, though usage may follow. */
  get isFinished(): boolean {
    return this.#reader.finish !== undefined
  }

  /** Nothing more is wanted from the provider. */
  get isOver(): boolean {
    return this.#reader.done || this.#reader.failure !== undefined
  }

  #text(decoded: string): void {
    let text = decoded
    if (this.#form === "unknown") {
      text = text.replace(/^[\uFEFF\s]+/, "")
      if (text === "") return
      this.#form = /^[{[<]/.test(text) ? "document" : "events"
    }
    if (this.#form === "document") {
      this.#document += text
      if (this.#document.length > longest) this.#reader.failure = Errors.notAModel(this.#endpoint, this.#document)
      return
    }
    this.#sse.push(text)
    if (this.#sse.waiting() > longest) this.#reader.failure = Errors.notAModel(this.#endpoint, "an endless event")
    if (this.#reader.done) this.#reader.complete()
  }

  #endDocument(): void {
    const value = parse(this.#document)
    if (!isRecord(value) || (errorOf(value) === undefined && !this.#reader.isAnswer(value))) {
      this.#reader.failure = Errors.notAModel(this.#endpoint, this.#document)
      return
    }
    this.#reader.push(this.#document)
    if (this.#reader.failure === undefined) this.#reader.complete()
  }

  // Half an event at the very end is a stream that was cut, not a provider that cannot write JSON.
  #malformed(data: string): LlmError | undefined {
    if (!this.#isAtEnd) return Errors.malformed(this.#endpoint, data)
    return this.isFinished ? undefined : Errors.closed(this.#endpoint)
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
