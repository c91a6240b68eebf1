/**
 * The wire format of Anthropic's Messages API, written from the server's side.
 */
import type { ChatRequest } from "../../ChatRequest.ts"
import type * as Reply from "../../Reply.ts"
import { signatureOf } from "../../Signature.ts"
import type { Wire } from "../Wire.ts"
import * as Content from "./Content.ts"
import { named } from "./Named.ts"

const event = (type: string, fields: object): string => named({ type, ...fields })

const message = (request: ChatRequest, fields: object): object => ({
  id: `msg_${request.index}`,
  type: "message",
  role: "assistant",
  model: request.model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 0, output_tokens: 1 },
  ...fields
})

const reasons: Readonly<Record<string, string>> = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal"
}

const reasonOf = (reply: Reply.Message): string | null => {
  const finish = Content.finishOf(reply)
  return finish === null ? null : (reasons[finish] ?? finish)
}

/** What is sent before the answer. What comes out of the cache, or goes into it, is not part of `input_tokens` here. */
const inputOf = (usage: Reply.Usage): object => {
  const cached = Content.cachedOf(usage)
  const written = usage.prompt_tokens_details?.cache_write_tokens
  return {
    input_tokens: Math.max(0, (usage.prompt_tokens ?? 0) - (cached ?? 0) - (written ?? 0)),
    ...(cached !== undefined && { cache_read_input_tokens: cached }),
    ...(written !== undefined && { cache_creation_input_tokens: written })
  }
}

function* events(reply: Reply.Message, request: ChatRequest): Generator<string> {
  const usage = Content.usageOf(reply, request)
  yield event("message_start", {
    message: message(request, { usage: usage === null ? {} : { ...inputOf(usage), output_tokens: 1 } })
  })
  yield event("ping", {})
  let index = 0
  if (reply.reasoning !== undefined) yield* thinking(reply.reasoning, index++)
  if (reply.text !== undefined) yield* speaking(reply.text, index++)
  for (const [i, call] of (reply.toolCalls ?? []).entries())
    yield* calling(call, Content.callId(call, request, i), index++)
  const reason = reasonOf(reply)
  if (reply.done !== false || reason !== null) {
    yield event("message_delta", {
      delta: { stop_reason: reason, stop_sequence: null },
      usage: usage === null ? {} : { output_tokens: usage.completion_tokens ?? 0 }
    })
  }
  if (reply.done !== false) yield event("message_stop", {})
}

function* thinking(reasoning: string | ReadonlyArray<string>, index: number): Generator<string> {
  yield event("content_block_start", { index, content_block: { type: "thinking", thinking: "", signature: "" } })
  for (const piece of Content.pieces(reasoning)) {
    yield event("content_block_delta", { index, delta: { type: "thinking_delta", thinking: piece } })
  }
  const signature = signatureOf(Content.joined(reasoning))
  yield event("content_block_delta", { index, delta: { type: "signature_delta", signature } })
  yield event("content_block_stop", { index })
}

function* speaking(text: string | ReadonlyArray<string>, index: number): Generator<string> {
  yield event("content_block_start", { index, content_block: { type: "text", text: "" } })
  for (const piece of Content.pieces(text)) {
    yield event("content_block_delta", { index, delta: { type: "text_delta", text: piece } })
  }
  yield event("content_block_stop", { index })
}

function* calling(call: Reply.ToolCall, id: string, index: number): Generator<string> {
  yield event("content_block_start", { index, content_block: { type: "tool_use", id, name: call.name, input: {} } })
  for (const piece of Content.fragments(call)) {
    yield event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: piece } })
  }
  yield event("content_block_stop", { index })
}

/** By status; the provider has no finer codes. */
const types: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  503: "overloaded_error",
  529: "overloaded_error"
}

const contentOf = (reply: Reply.Message, request: ChatRequest): ReadonlyArray<object> => {
  const reasoning = Content.joined(reply.reasoning)
  return [
    ...(reply.reasoning === undefined
      ? []
      : [{ type: "thinking", thinking: reasoning, signature: signatureOf(reasoning) }]),
    ...(reply.text === undefined ? [] : [{ type: "text", text: Content.joined(reply.text) }]),
    ...(reply.toolCalls ?? []).map((call, i) => ({
      type: "tool_use",
      id: Content.callId(call, request, i),
      name: call.name,
      input: call.arguments
    }))
  ]
}

export const messages: Wire = {
  // The first event names the exchange and counts its tokens.
  opening: () => [],
  closing: events,
  event: named,
  ended: () => [
    event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 1 } }),
    event("message_stop", {})
  ],
  completion: (reply, request) => {
    const usage = Content.usageOf(reply, request)
    return message(request, {
      content: contentOf(reply, request),
      stop_reason: reasonOf(reply),
      usage: usage === null ? {} : { ...inputOf(usage), output_tokens: usage.completion_tokens ?? 0 }
    })
  },
  error: (status, detail) => ({
    type: "error",
    error: { type: types[status] ?? "invalid_request_error", message: detail.message }
  }),
  requestId: "request-id",
  broken: {
    json: '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel',
    events: [
      { type: 7 },
      42,
      { type: "message_start", message: "none" },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: 7 } }
    ]
  }
}
