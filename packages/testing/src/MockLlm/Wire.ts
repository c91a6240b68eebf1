/**
 * The wire formats the server speaks, and what one of them has to be able to say.
 */
import type { ChatRequest, Dialect } from "../ChatRequest.ts"
import type * as Reply from "../Reply.ts"
import { chatCompletions } from "./Wire/ChatCompletions.ts"
import { messages } from "./Wire/Messages.ts"
import { responses } from "./Wire/Responses.ts"

export interface Wire {
  /** The events that depend on nothing in the request but the model's name, so that a reply served often is written once. */
  readonly opening: (reply: Reply.Message, model: string) => Iterable<string>
  /** The rest of the answer. */
  readonly closing: (reply: Reply.Message, request: ChatRequest) => Iterable<string>
  /** One event. A string is sent as it is. */
  readonly event: (frame: unknown) => string
  /** The events that end a stream of raw frames. */
  readonly ended: (request: ChatRequest) => Iterable<string>
  /** The answer to a request that did not ask for a stream. */
  readonly completion: (reply: Reply.Message, request: ChatRequest) => object
  /** The body of a refusal. */
  readonly error: (status: number, detail: Reply.ErrorDetail) => object
  /** The header that names the exchange. */
  readonly requestId: string
  /** Events that no client can read, and events of the wrong shape. */
  readonly broken: { readonly json: string; readonly events: ReadonlyArray<unknown> }
}

const wires: Readonly<Record<Dialect, Wire>> = { "chat-completions": chatCompletions, responses, messages }

export const wireOf = (dialect: Dialect): Wire => wires[dialect]

/** Deltas of one answer can number in the hundreds of thousands: they go out in blocks of about this many characters. */
const blockLength = 48 * 1024

/** Events joined into larger writes. */
export function* blocks(events: Iterable<string>): Generator<string> {
  let block = ""
  for (const event of events) {
    block += event
    if (block.length >= blockLength) {
      yield block
      block = ""
    }
  }
  if (block !== "") yield block
}

/** The events of a list of raw frames. */
export function* frames(reply: Reply.Frames, request: ChatRequest): Generator<string> {
  const wire = wireOf(request.dialect)
  for (const frame of reply.frames) yield wire.event(frame)
  if (reply.done !== false) yield* wire.ended(request)
}
