/**
 * The wire format of OpenAI's Responses API, written from the server's side.
 */
import type { ChatRequest } from "../../ChatRequest.ts"
import type * as Reply from "../../Reply.ts"
import type { Wire } from "../Wire.ts"
import * as Content from "./Content.ts"
import { named } from "./Named.ts"

type Item = Readonly<Record<string, unknown>>

/** Writes events in the order of their numbers. */
const writer = () => {
  let number = 0
  return (type: string, fields: object): string => named({ type, sequence_number: number++, ...fields })
}

const response = (request: ChatRequest, fields: object): object => ({
  id: `resp_${request.index}`,
  object: "response",
  created_at: 1700000000,
  status: "in_progress",
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  model: request.model,
  output: [],
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: "auto",
  tools: [],
  top_p: 1,
  ...fields
})

/** The ids of items are unique over all answers, as those of the provider are. */
const itemsOf = (reply: Reply.Message, request: ChatRequest): ReadonlyArray<Item> => {
  const isCut = reply.finish === "length"
  const status = isCut ? "incomplete" : "completed"
  return [
    ...(reply.reasoning === undefined ? [] : [thought(reply.reasoning, request)]),
    ...(reply.text === undefined
      ? []
      : [
          {
            id: `msg_${request.index}`,
            type: "message",
            status,
            role: "assistant",
            content: [{ type: "output_text", text: Content.joined(reply.text), annotations: [], logprobs: [] }]
          }
        ]),
    ...(reply.toolCalls ?? []).map((call, i) => ({
      id: `fc_${request.index}_${i}`,
      type: "function_call",
      status,
      arguments: Content.argumentsText(call),
      call_id: Content.callId(call, request, i),
      name: call.name
    }))
  ]
}

const thought = (reasoning: string | ReadonlyArray<string>, request: ChatRequest): Item => ({
  id: `rs_${request.index}`,
  type: "reasoning",
  // The API seals reasoning only for those who ask.
  ...(isSealed(request.json) && { encrypted_content: `sealed-${request.index}` }),
  summary: [{ type: "summary_text", text: Content.joined(reasoning) }]
})

const isSealed = (json: unknown): boolean =>
  typeof json === "object" &&
  json !== null &&
  "include" in json &&
  Array.isArray(json.include) &&
  json.include.includes("reasoning.encrypted_content")

/** How the answer ended, in the words of this format. */
const outcome = (finish: string | null): { readonly event: string; readonly fields: object } => {
  switch (finish) {
    case null:
    case "stop":
    case "tool_calls":
      return { event: "response.completed", fields: { status: "completed" } }
    default:
      return {
        event: "response.incomplete",
        fields: {
          status: "incomplete",
          incomplete_details: { reason: finish === "length" ? "max_output_tokens" : finish }
        }
      }
  }
}

const usage = (reply: Reply.Message, request: ChatRequest): object | null => {
  const counted = Content.usageOf(reply, request)
  if (counted === null) return null
  const { completion_tokens: output = 0, completion_tokens_details: details, prompt_tokens: input = 0 } = counted
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: Content.cachedOf(counted) ?? 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: details?.reasoning_tokens ?? 0 },
    total_tokens: input + output
  }
}

function* events(reply: Reply.Message, request: ChatRequest): Generator<string> {
  const event = writer()
  yield event("response.created", { response: response(request, {}) })
  yield event("response.in_progress", { response: response(request, {}) })
  const items = itemsOf(reply, request)
  for (const [index, item] of items.entries()) {
    const at = { output_index: index }
    yield event("response.output_item.added", { ...at, item: opened(item) })
    const place = { item_id: item.id, ...at }
    if (item.type === "reasoning") yield* thinking(reply, place, event)
    else if (item.type === "message") yield* speaking(reply, place, event)
    else yield* calling(reply.toolCalls?.[index - (items.length - (reply.toolCalls?.length ?? 0))], place, event)
    yield event("response.output_item.done", { ...at, item })
  }
  if (reply.done === false) return
  const { event: type, fields } = outcome(Content.finishOf(reply))
  yield event(type, { response: response(request, { ...fields, output: items, usage: usage(reply, request) }) })
}

const opened = (item: Item): Item => {
  const { encrypted_content: _, ...rest } = item
  switch (item.type) {
    case "reasoning":
      return { ...rest, summary: [] }
    case "message":
      return { ...rest, status: "in_progress", content: [] }
    default:
      return { ...rest, status: "in_progress", arguments: "" }
  }
}

type Event = ReturnType<typeof writer>

function* thinking(reply: Reply.Message, place: object, event: Event): Generator<string> {
  const at = { ...place, summary_index: 0 }
  const text = Content.joined(reply.reasoning)
  yield event("response.reasoning_summary_part.added", { ...at, part: { type: "summary_text", text: "" } })
  for (const delta of Content.pieces(reply.reasoning))
    yield event("response.reasoning_summary_text.delta", { ...at, delta })
  yield event("response.reasoning_summary_text.done", { ...at, text })
  yield event("response.reasoning_summary_part.done", { ...at, part: { type: "summary_text", text } })
}

function* speaking(reply: Reply.Message, place: object, event: Event): Generator<string> {
  const at = { ...place, content_index: 0 }
  const part = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] })
  const text = Content.joined(reply.text)
  yield event("response.content_part.added", { ...at, part: part("") })
  for (const delta of Content.pieces(reply.text))
    yield event("response.output_text.delta", { ...at, delta, logprobs: [] })
  yield event("response.output_text.done", { ...at, text, logprobs: [] })
  yield event("response.content_part.done", { ...at, part: part(text) })
}

function* calling(call: Reply.ToolCall | undefined, place: object, event: Event): Generator<string> {
  if (call === undefined) return
  for (const delta of Content.fragments(call))
    yield event("response.function_call_arguments.delta", { ...place, delta })
  yield event("response.function_call_arguments.done", {
    ...place,
    name: call.name,
    arguments: Content.argumentsText(call)
  })
}

export const responses: Wire = {
  // Every event has an id or a number in it.
  opening: () => [],
  closing: events,
  event: named,
  ended: (request) => [
    named({ type: "response.completed", sequence_number: 9999, response: response(request, { status: "completed" }) })
  ],
  completion: (reply, request) => {
    const { fields } = outcome(Content.finishOf(reply))
    return response(request, { ...fields, output: itemsOf(reply, request), usage: usage(reply, request) })
  },
  error: (_status, { code, message, type }) => ({ error: { message, type, param: null, code } }),
  requestId: "x-request-id",
  broken: {
    json: '{"type":"response.output_text.delta","item_id":"msg_0","delta":"Hel',
    events: [
      { type: 7 },
      42,
      { type: "response.output_item.added", item: "message" },
      { type: "response.output_text.delta", item_id: "msg_0", delta: 7 }
    ]
  }
}
