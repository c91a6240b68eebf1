/**
 * OpenAI's Responses.
 */
import type { Samples } from "../Samples.ts"

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

const of = (type: string, fields: object): string => event({ type: `response.${type}`, ...fields })

const created = of("created", { response: { id: "r" } })

const added = (output_index: number, item: object): string => of("output_item.added", { output_index, item })
const done = (output_index: number, item: object): string => of("output_item.done", { output_index, item })

const part = (text: string) => ({ type: "output_text", text, annotations: [] })
const message = (...content: ReadonlyArray<object>) => ({ type: "message", id: "m", role: "assistant", content })

const speaking = (output_index: number, pieces: ReadonlyArray<string>): string => {
  const at = { output_index, item_id: "m", content_index: 0 }
  return (
    added(output_index, message()) +
    of("content_part.added", { ...at, part: part("") }) +
    pieces.map((delta) => of("output_text.delta", { ...at, delta })).join("")
  )
}

const said = (output_index: number, pieces: ReadonlyArray<string>): string =>
  speaking(output_index, pieces) + done(output_index, message(part(pieces.join(""))))

const thought = (output_index: number, delta: string): string => {
  const item = { type: "reasoning", id: "t" }
  const at = { output_index, item_id: "t", summary_index: 0 }
  const summary = (text: string) => ({ type: "summary_text", text })
  return (
    added(output_index, { ...item, summary: [] }) +
    of("reasoning_summary_part.added", { ...at, part: summary("") }) +
    of("reasoning_summary_text.delta", { ...at, delta }) +
    done(output_index, { ...item, summary: [summary(delta)] })
  )
}

const called = (output_index: number, call_id: string, args: string): string => {
  const item = { type: "function_call", id: `f${call_id}`, call_id, name: "read" }
  return (
    added(output_index, { ...item, arguments: "" }) +
    of("function_call_arguments.delta", { output_index, item_id: item.id, delta: args }) +
    done(output_index, { ...item, arguments: args })
  )
}

const completed = (usage?: object): string => of("completed", { response: { status: "completed", usage } })

export const responses: Samples = {
  event,
  words: created + said(0, ["中文", "🐋 é"]) + completed(),
  whole:
    created +
    thought(0, "é") +
    said(1, ["中🐋"]) +
    called(2, "c1", '{"p":"é"}') +
    completed({ input_tokens: 3, output_tokens: 2 }),
  begun: (...pieces) => created + speaking(0, pieces),
  acted: created + said(0, ["a", "中"]) + called(1, "c", "{}"),
  called: created + called(0, "c", "{}"),
  error: (message) => ({ type: "error", code: null, message, param: null }),
  errors: [
    [{ type: "error", code: "server_error", message: "overloaded", param: null }, "SERVER"],
    [{ type: "error", code: "rate_limit_exceeded", message: "x" }, "RATE_LIMIT"],
    [{ type: "error", error: { type: "server_error", message: "x", code: 429 } }, "RATE_LIMIT"],
    [{ error: { message: "no credits: out of credits" } }, "QUOTA"],
    [
      { type: "response.failed", response: { status: "failed", error: { code: "rate_limit_exceeded", message: "x" } } },
      "RATE_LIMIT"
    ],
    [{ type: "response.failed", response: { status: "failed", error: null } }, "SERVER"]
  ],
  misfits: [
    { type: "response.created", response: { id: 7, model: null, created_at: "now" }, extra: {} },
    { type: 7 },
    42,
    { type: "keepalive", sequence_number: 3 },
    { type: "response.something.new", item_id: null },
    { type: "response.output_item.added", output_index: 0, item: null },
    { type: "response.output_item.added", output_index: 0, item: { ...message(), status: null, content: null } },
    { type: "response.content_part.added", item_id: "m", output_index: 0, content_index: 0, part: null },
    { type: "response.content_part.added", item_id: "m", output_index: 0, content_index: 0, part: part("") },
    { type: "response.output_text.delta", item_id: "m", output_index: 0, content_index: 0, delta: 7 },
    { type: "response.output_text.delta", item_id: "m", output_index: 0, content_index: 0, delta: "a", logprobs: null },
    { type: "response.output_text.delta", item_id: "m", output_index: 0, content_index: 0, delta: "b", extra: [] },
    { type: "response.output_item.done", output_index: 0, item: { ...message(part("ab")), status: "new" } },
    {
      type: "response.completed",
      sequence_number: null,
      response: { status: "done", usage: { input_tokens: 3, output_tokens: 1, input_tokens_details: null } }
    }
  ],
  finishes: [
    ["stop", "stop"],
    ["length", "max-tokens"],
    ["tool_calls", "stop"],
    ["content_filter", "CONTENT_FILTER"],
    ["insufficient_system_resource", "INSUFFICIENT_SYSTEM_RESOURCE"]
  ],
  countsThoughts: true
}
