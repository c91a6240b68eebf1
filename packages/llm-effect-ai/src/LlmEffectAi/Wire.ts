/**
 * The wire formats whose requests and events are set right between the library and the provider.
 */
import { record } from "@dsh/llm/Lenient"
import type { Raw } from "@dsh/llm/Lenient"
import type { DialectName } from "@dsh/llm/LibraryTransport"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as Stream from "effect/Stream"
import { messages } from "./Wire/Messages.ts"
import { responses } from "./Wire/Responses.ts"

/** What the library gets to see of the events of one answer. */
export type Reader = (event: Raw) => ReadonlyArray<Raw>

export interface Wire {
  readonly dialect: DialectName
  /** The end of the address it is spoken at. */
  readonly path: string
  /** The body as it ought to be. `written` are the arguments of calls, by id. */
  readonly body: (body: Raw, written: ReadonlyMap<string, string>) => Raw
  /** One per answer. */
  readonly reader: () => Reader
}

const wires = [responses, messages]

/** The format that a request is written in; nothing when it is none of these. */
export const of = ({ url }: HttpClientRequest.HttpClientRequest): Wire | undefined =>
  wires.find(({ path }) => url.endsWith(path))

export const outgoing = (
  wire: Wire,
  request: HttpClientRequest.HttpClientRequest,
  written: ReadonlyMap<string, string>
): HttpClientRequest.HttpClientRequest => {
  const { body } = request
  if (body._tag !== "Uint8Array") return request
  const value: unknown = JSON.parse(new TextDecoder().decode(body.body))
  return HttpClientRequest.setBody(request, HttpBody.unsafeJson(wire.body(record(value), written)))
}

/** The response with its events rewritten. What comes is clean, an event to a block. `onRead` is told before the library is. */
export const incoming = (wire: Wire, response: HttpClientResponse, onRead: () => void): HttpClientResponse => {
  const reader = wire.reader()
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let rest = ""
  const rewrite = (bytes: Uint8Array): Uint8Array => {
    onRead()
    const blocks = (rest + decoder.decode(bytes, { stream: true })).split("\n\n")
    rest = blocks.pop() ?? ""
    return encoder.encode(
      blocks
        .flatMap((block) => reader(eventOf(block)))
        .map(written)
        .join("")
    )
  }
  return Object.create(response, {
    stream: { value: Stream.map(response.stream, rewrite) }
  }) as HttpClientResponse
}

const eventOf = (block: string): Raw => {
  const data = block.slice(block.indexOf("data: ") + 6)
  return record(JSON.parse(data) as unknown)
}

const written = (event: Raw): string => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`
