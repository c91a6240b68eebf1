/**
 * From a reply to what happens on the socket: status, headers, a sequence of writes, an ending.
 */
import type { ChatRequest } from "../ChatRequest.ts"
import type * as Reply from "../Reply.ts"
import * as Behaviours from "./Behaviours.ts"
import * as Wire from "./Wire.ts"

export interface Respond {
  readonly _tag: "Respond"
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Before the headers, in milliseconds. */
  readonly headDelayMs: number
  /** Between headers and body, in milliseconds. */
  readonly delayMs: number
  /** Each element is one write. */
  readonly writes: Iterable<string | Uint8Array>
  /** Pause after each write, in milliseconds; `undefined` writes as fast as the client reads. */
  readonly paceMs: number | undefined
  readonly ending: "end" | "hold" | "reset"
}

export type Plan = Respond | { readonly _tag: "Reset" }

/** What a reply does for this request. */
export const make = (reply: Reply.Reply, request: ChatRequest): Plan => {
  switch (reply._tag) {
    case "Behaviour":
      return make(Behaviours.resolve(reply, request), request)
    case "Reset":
      return { _tag: "Reset" }
    case "Http":
      return http(reply, request)
    case "Message":
      return request.stream
        ? stream(reply, message(reply, request), request)
        : http(
            { _tag: "Http", status: 200, body: wireOf(request).completion(reply, request), ...delayOf(reply) },
            request
          )
    case "Frames":
      return stream(reply, delivered(reply, Wire.frames(reply, request)), request)
    case "Sse":
      return stream({ ...reply, ...(reply.cuts !== undefined && { paceMs: reply.paceMs ?? 0 }) }, cut(reply), request)
  }
}

const wireOf = ({ dialect }: ChatRequest): Wire.Wire => Wire.wireOf(dialect)

const delayOf = (delivery: Reply.Delivery) => (delivery.delayMs === undefined ? {} : { delayMs: delivery.delayMs })

const stream = (delivery: Reply.Delivery, body: Iterable<string | Uint8Array>, request: ChatRequest): Respond => ({
  _tag: "Respond",
  status: 200,
  headers: {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    [wireOf(request).requestId]: `mock-${request.index}`,
    ...delivery.headers
  },
  headDelayMs: 0,
  delayMs: delivery.delayMs ?? 0,
  writes: chain(keepAlives(delivery), body),
  paceMs: delivery.paceMs,
  ending: delivery.ending ?? "end"
})

const keepAlives = (delivery: Reply.Delivery): ReadonlyArray<string> =>
  Array.from({ length: delivery.keepAlives ?? 0 }, () => ": keep-alive\n\n")

const delivered = (delivery: Reply.Delivery, events: Iterable<string>): Iterable<string> =>
  delivery.paceMs === undefined ? Wire.blocks(events) : events

const message = (reply: Reply.Message, request: ChatRequest): Iterable<string | Uint8Array> => {
  const wire = wireOf(request)
  const opening = reply.paceMs === undefined ? precomputed(reply, request) : wire.opening(reply, request.model)
  return chain<string | Uint8Array>(opening, delivered(reply, wire.closing(reply, request)))
}

function* chain<A>(...parts: ReadonlyArray<Iterable<A>>): Generator<A> {
  for (const part of parts) yield* part
}

// A script serves the same reply to many clients, and a long one costs more to write out than to send.
const ready = new WeakMap<Reply.Message, Map<string, ReadonlyArray<Uint8Array>>>()

const precomputed = (reply: Reply.Message, request: ChatRequest): ReadonlyArray<Uint8Array> => {
  const known = ready.get(reply) ?? new Map<string, ReadonlyArray<Uint8Array>>()
  ready.set(reply, known)
  const key = `${request.dialect} ${request.model}`
  const kept = known.get(key)
  if (kept !== undefined) return kept
  const blocks = Array.from(Wire.blocks(wireOf(request).opening(reply, request.model)), (block) => Buffer.from(block))
  known.set(key, blocks)
  return blocks
}

const cut = (reply: Reply.Sse): ReadonlyArray<Uint8Array> => {
  const bytes = typeof reply.body === "string" ? new TextEncoder().encode(reply.body) : reply.body
  const inner = reply.cuts === "every-byte" ? Array.from({ length: bytes.length }, (_, i) => i) : (reply.cuts ?? [])
  const edges = [...new Set([0, ...inner.filter((at) => at > 0 && at < bytes.length), bytes.length])].sort(
    (a, b) => a - b
  )
  return edges.slice(1).map((to, i) => bytes.subarray(edges[i], to))
}

const http = (reply: Reply.Http, request: ChatRequest): Respond => {
  const value = reply.error === undefined ? reply.body : wireOf(request).error(reply.status, reply.error)
  const raw = typeof value === "string" || value instanceof Uint8Array
  const body = value === undefined ? "" : raw ? value : JSON.stringify(value)
  return {
    _tag: "Respond",
    status: reply.status,
    headers: {
      "content-type": raw ? "text/plain; charset=utf-8" : "application/json",
      "content-length": String(typeof body === "string" ? Buffer.byteLength(body) : body.length),
      ...reply.headers
    },
    headDelayMs: reply.delayMs ?? 0,
    delayMs: 0,
    writes: body.length === 0 ? [] : [body],
    paceMs: undefined,
    ending: "end"
  }
}
