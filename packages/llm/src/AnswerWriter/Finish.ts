/**
 * From the reason a provider names for the end of an answer to ours.
 */
import type { FinishReason } from "@dsh/protocol/StreamChunk"

const kinds: Readonly<Record<string, "stop" | "tool-calls" | "max-tokens">> = {
  stop: "stop",
  end: "stop",
  end_turn: "stop",
  eos: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  tool_calls: "tool-calls",
  tool_use: "tool-calls",
  function_call: "tool-calls",
  length: "max-tokens",
  max_tokens: "max-tokens",
  max_output_tokens: "max-tokens",
  model_context_window_exceeded: "max-tokens",
  model_length: "max-tokens"
}

const foreign: Readonly<Record<string, string>> = {
  content_filter: "the provider's content filter stopped the answer; rephrase the request",
  insufficient_system_resource: "the provider ran out of capacity and stopped the answer; try again later"
}

/** The kind of end that a provider's reason stands for; nothing for a reason of its own, which is an error. */
export const kindOf = (named: string): "stop" | "tool-calls" | "max-tokens" | undefined => kinds[named.toLowerCase()]

/** What the answer ended with, given the reason the provider named, if any, and what the answer holds. */
export const reason = (
  named: string | undefined,
  says: { readonly text: boolean; readonly tools: boolean; readonly leak: boolean }
): FinishReason => {
  const kind = named === undefined ? "stop" : kindOf(named)
  if (kind === undefined) return stopped(named ?? "unknown")
  // A call that was cut is dropped, whichever way it was written.
  if (kind === "max-tokens") return { kind }
  if (says.leak) return { kind: "error", failure: leak }
  // Providers disagree with themselves about calls; the calls are what counts.
  if (says.tools) return { kind: "tool-calls" }
  if (says.text) return { kind: "stop" }
  const message = "the model ended its turn without an answer or a tool call; retry the request"
  return { kind: "error", failure: { code: "EMPTY_RESPONSE", message } }
}

/** The server's, because to tell calls from text is its task; and worth another try, because most of the time it can. */
const leak = {
  code: "SERVER",
  message:
    "the provider left the markup of a tool call in the text of the answer, where it cannot be run; retry the request"
}

const stopped = (named: string): FinishReason => {
  const code = named.toUpperCase().replace(/[^A-Z0-9]+/g, "_")
  const message = foreign[named] ?? `the provider stopped the answer with finish_reason "${named}"`
  return { kind: "error", failure: { code, message } }
}
