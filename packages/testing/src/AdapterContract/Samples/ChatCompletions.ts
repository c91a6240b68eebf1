/**
 * Chat completions.
 */
import type { Samples } from "../Samples.ts"

export const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

/** One event with one delta. */
export const frame = (delta: unknown, finish: string | null = null): string =>
  event({ choices: [{ index: 0, delta, finish_reason: finish }] })

export const toolCall = (fields: object): object => ({ tool_calls: [fields] })

export const done = "data: [DONE]\n\n"

const call = frame(toolCall({ index: 0, id: "c", function: { name: "read", arguments: "{}" } }))

export const chatCompletions: Samples = {
  event,
  words: `${frame({ content: "中文" })}${frame({ content: "🐋 é" })}${frame({}, "stop")}${done}`,
  whole:
    frame({ role: "assistant", content: null, reasoning_content: "é" }) +
    frame({ content: "中🐋" }) +
    frame({ tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "read", arguments: "" } }] }) +
    frame({ tool_calls: [{ index: 0, function: { arguments: '{"p":"é"}' } }] }) +
    frame({}, "tool_calls") +
    event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }) +
    done,
  begun: (...pieces) => pieces.map((content) => frame({ content })).join(""),
  acted: frame({ content: "a" }) + frame({ content: "中" }) + call,
  called: call,
  error: (message) => ({ error: { message } }),
  errors: [
    [{ error: { message: "overloaded", type: "server_error" } }, "SERVER"],
    [{ error: { message: "x", code: 429 } }, "RATE_LIMIT"],
    [{ error: "Rate limit reached" }, "RATE_LIMIT"],
    [{ object: "error", message: "no credits: out of credits" }, "QUOTA"]
  ],
  misfits: [
    { choices: [], usage: null },
    { id: 7, extra: {}, choices: [{ delta: null }] },
    { choices: [{ delta: {}, finish_reason: "" }] },
    { choices: "none", usage: 7 },
    { choices: [{ delta: { content: 7, reasoning_content: {}, tool_calls: "no", role: null } }] },
    { choices: [{ delta: { content: "a", tool_calls: [null, 3, {}] }, logprobs: null }] },
    42,
    { choices: [{ index: 0, delta: { content: [{ type: "text", text: "b" }] }, finish_reason: "stop" }] },
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 1, prompt_tokens_details: null } }
  ],
  finishes: [
    ["stop", "stop"],
    ["length", "max-tokens"],
    ["tool_calls", "stop"],
    [null, "stop"],
    ["", "stop"],
    ["content_filter", "CONTENT_FILTER"],
    ["insufficient_system_resource", "INSUFFICIENT_SYSTEM_RESOURCE"]
  ],
  countsThoughts: true
}
