/**
 * What the mock model answers: plain data, from "says hello" down to raw bytes, and how it is delivered.
 *
 * A reply names what the model does; `MockLlm` turns it into the wire format. The forms below `Message` exist for the faults that a
 * well-behaved answer cannot express.
 */

/** Token counts under the names of chat completions; absent fields are not sent. Other wire formats have them under theirs. */
export interface Usage {
  readonly prompt_tokens?: number
  readonly completion_tokens?: number
  readonly total_tokens?: number
  readonly prompt_cache_hit_tokens?: number
  readonly prompt_cache_miss_tokens?: number
  readonly prompt_tokens_details?: { readonly cached_tokens?: number; readonly cache_write_tokens?: number }
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number }
}

export interface ToolCall {
  /** Default: `call_<request>_<position>`. */
  readonly id?: string
  readonly name: string
  /** Text goes out as it is, valid or not; an object is serialised. */
  readonly arguments: string | object
  /** How the arguments are cut into deltas: a length in characters, or the pieces themselves. Default 16. */
  readonly fragments?: number | ReadonlyArray<string>
}

/** How the bytes travel. */
export interface Delivery {
  /** Silence before the first byte of the body, in milliseconds. */
  readonly delayMs?: number
  /** Pause between events, in milliseconds. `0` sends each event by itself; absent sends as fast as the client reads. */
  readonly paceMs?: number
  /** `: keep-alive` comments before the first event, `paceMs` apart. */
  readonly keepAlives?: number
  /** What happens after the last byte: a proper end, an open silent connection, or a reset. Default `end`. */
  readonly ending?: "end" | "hold" | "reset"
  readonly headers?: Readonly<Record<string, string>>
}

/** A well-formed answer. */
export interface Message extends Delivery {
  readonly _tag: "Message"
  /** A string is cut into deltas of a few characters; an array is the deltas. */
  readonly reasoning?: string | ReadonlyArray<string>
  readonly text?: string | ReadonlyArray<string>
  readonly toolCalls?: ReadonlyArray<ToolCall>
  /** `null` sends none. Default: counts estimated from the sizes. */
  readonly usage?: Usage | null
  /**
   * Where usage travels: a chunk of its own after the finish, on the finish chunk, or on every chunk. Default `trailing`. Only chat
   * completions know the difference.
   */
  readonly usageOn?: "trailing" | "finish" | "every"
  /** `null` sends none. Default `tool_calls` when there are calls, else `stop`. */
  readonly finish?: string | null
  /** Whether the last event is sent: `[DONE]`, `response.completed`, `message_stop`. Default true. */
  readonly done?: boolean
}

/** One JSON value per event, of any shape. Strings are sent as they are. */
export interface Frames extends Delivery {
  readonly _tag: "Frames"
  readonly frames: ReadonlyArray<unknown>
  readonly done?: boolean
}

/** The raw body of an event stream. */
export interface Sse extends Delivery {
  readonly _tag: "Sse"
  readonly body: string | Uint8Array
  /** Byte offsets at which the body is cut into separate writes. */
  readonly cuts?: ReadonlyArray<number> | "every-byte"
}

/** What a provider says of an error. Not every wire format has a place for all of it. */
export interface ErrorDetail {
  readonly message: string
  readonly type: string
  readonly code: string
}

/** Any other HTTP response. */
export interface Http {
  readonly _tag: "Http"
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Text and bytes go out as they are; anything else as JSON. */
  readonly body?: unknown
  /** Instead of a body: the provider's own form of this error. */
  readonly error?: ErrorDetail
  /** Silence before the response, in milliseconds. */
  readonly delayMs?: number
}

/** The connection is reset before a byte of the response. */
export interface Reset {
  readonly _tag: "Reset"
}

/** A behaviour by name; what it does may depend on the request. */
export interface Behaviour extends Delivery {
  readonly _tag: "Behaviour"
  readonly name: BehaviourName
}

export type Reply = Message | Frames | Sse | Http | Reset | Behaviour

/** The names that scripts, scenario files and weights use. */
export const behaviourNames = [
  "success",
  "slow_success",
  "reasoning_success",
  "tool_call_success",
  "max_tokens",
  "connection_reset",
  "stream_disconnect",
  "partial_disconnect",
  "stall",
  "empty",
  "empty_body",
  "stream_eof",
  "partial_eof",
  "malformed_json",
  "malformed_event",
  "rate_limit",
  "server_error",
  "service_unavailable",
  "auth_error",
  "invalid_request",
  "context_overflow",
  "quota_exceeded",
  "wrong_content_type"
] as const

export type BehaviourName = (typeof behaviourNames)[number]

// -----------------------------------------------------------------------------
// constructors
// -----------------------------------------------------------------------------

type Rest<A> = Omit<A, "_tag">

export const message = (fields: Rest<Message>): Message => ({ _tag: "Message", ...fields })

/** The model says `content` and stops. */
export const text = (content: string | ReadonlyArray<string>, fields?: Omit<Rest<Message>, "text">): Message => ({
  _tag: "Message",
  text: content,
  ...fields
})

/** The model calls tools. */
export const toolCalls = (calls: ReadonlyArray<ToolCall>, fields?: Omit<Rest<Message>, "toolCalls">): Message => ({
  _tag: "Message",
  toolCalls: calls,
  ...fields
})

export const frames = (values: ReadonlyArray<unknown>, fields?: Omit<Rest<Frames>, "frames">): Frames => ({
  _tag: "Frames",
  frames: values,
  ...fields
})

/** One chat-completions frame per delta object, in the usual envelope; for deltas that a `Message` would not produce. */
export const deltas = (
  values: ReadonlyArray<unknown>,
  fields?: Omit<Rest<Frames>, "frames"> & { readonly finish?: string | null }
): Frames => {
  const { finish = "stop", ...rest } = fields ?? {}
  const frame = (delta: unknown, reason: string | null) => ({
    id: "chatcmpl-mock",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: reason }]
  })
  const end = finish === null ? [] : [frame({}, finish)]
  return frames([...values.map((delta) => frame(delta, null)), ...end], rest)
}

export const sse = (body: string | Uint8Array, fields?: Omit<Rest<Sse>, "body">): Sse => ({
  _tag: "Sse",
  body,
  ...fields
})

export const http = (status: number, fields?: Omit<Rest<Http>, "status">): Http => ({ _tag: "Http", status, ...fields })

/** A provider's refusal, in its own form. */
export const error = (
  status: number,
  detail: { readonly message: string; readonly type?: string; readonly code?: string },
  headers?: Readonly<Record<string, string>>
): Http => ({
  _tag: "Http",
  status,
  ...(headers !== undefined && { headers }),
  error: { type: "invalid_request_error", code: "invalid_request_error", ...detail }
})

export const reset: Reset = { _tag: "Reset" }

export const behaviour = (name: BehaviourName, delivery?: Delivery): Behaviour => ({
  _tag: "Behaviour",
  name,
  ...delivery
})
