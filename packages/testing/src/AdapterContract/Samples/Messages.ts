/**
 * Anthropic's Messages.
 */
import type { Samples } from "../Samples.ts"

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

const started = (usage: object = {}): string =>
  event({ type: "message_start", message: { id: "m", role: "assistant", content: [], usage } })

const opened = (index: number, content_block: object): string =>
  event({ type: "content_block_start", index, content_block })

const delta = (index: number, fields: object): string => event({ type: "content_block_delta", index, delta: fields })

const closed = (index: number): string => event({ type: "content_block_stop", index })

const speaking = (index: number, pieces: ReadonlyArray<string>): string =>
  opened(index, { type: "text", text: "" }) + pieces.map((text) => delta(index, { type: "text_delta", text })).join("")

const thought = (index: number, thinking: string): string =>
  opened(index, { type: "thinking", thinking: "", signature: "" }) +
  delta(index, { type: "thinking_delta", thinking }) +
  delta(index, { type: "signature_delta", signature: "s" }) +
  closed(index)

const called = (index: number, id: string, args: string): string =>
  opened(index, { type: "tool_use", id, name: "read", input: {} }) +
  delta(index, { type: "input_json_delta", partial_json: args }) +
  closed(index)

const ended = (stop_reason: string, usage: object = {}): string =>
  event({ type: "message_delta", delta: { stop_reason }, usage }) + event({ type: "message_stop" })

export const messages: Samples = {
  event,
  words: started() + speaking(0, ["中文", "🐋 é"]) + closed(0) + ended("end_turn"),
  whole:
    started({ input_tokens: 3 }) +
    thought(0, "é") +
    speaking(1, ["中🐋"]) +
    closed(1) +
    called(2, "c1", '{"p":"é"}') +
    ended("tool_use", { output_tokens: 2 }),
  begun: (...pieces) => started() + speaking(0, pieces),
  acted: started() + speaking(0, ["a", "中"]) + closed(0) + called(1, "c", "{}"),
  called: started() + called(0, "c", "{}"),
  error: (message) => ({ type: "error", error: { type: "api_error", message } }),
  errors: [
    [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "SERVER"],
    [{ type: "error", error: { type: "rate_limit_error", message: "x" } }, "RATE_LIMIT"],
    [{ type: "error", error: { type: "api_error", message: "no credits: out of credits" } }, "QUOTA"],
    [{ error: { message: "overloaded" } }, "SERVER"]
  ],
  misfits: [
    {
      type: "message_start",
      message: { id: 7, content: null, model: null, usage: { input_tokens: 3, speed: "fast" } }
    },
    { type: 7 },
    42,
    { type: "something_new", index: null },
    { type: "content_block_start", index: 0, content_block: null },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: null, citations: 7 }, extra: {} },
    { type: "content_block_delta", index: 0, delta: null },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: 7 } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "a" }, extra: [] },
    { type: "content_block_delta", index: 0, delta: { type: "something_delta", text: "x" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "b" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: 7 }, usage: { output_tokens: 1 } }
  ],
  finishes: [
    ["stop", "stop"],
    ["stop_sequence", "stop"],
    ["length", "max-tokens"],
    ["tool_calls", "stop"],
    // The name is the provider's.
    ["content_filter", "REFUSAL"],
    ["insufficient_system_resource", "INSUFFICIENT_SYSTEM_RESOURCE"]
  ],
  countsThoughts: false
}
