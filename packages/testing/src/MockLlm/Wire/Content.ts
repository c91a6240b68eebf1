/**
 * What a reply says, apart from the wire format it says it in.
 */
import type { ChatRequest } from "../../ChatRequest.ts"
import type * as Reply from "../../Reply.ts"

const defaultPiece = 4
const defaultFragment = 16

export const finishOf = (reply: Reply.Message): string | null =>
  reply.finish === undefined ? ((reply.toolCalls?.length ?? 0) > 0 ? "tool_calls" : "stop") : reply.finish

export const joined = (text: string | ReadonlyArray<string> | undefined): string =>
  text === undefined ? "" : typeof text === "string" ? text : text.join("")

export const argumentsText = (call: Reply.ToolCall): string =>
  typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments)

/** Unique per request and position, unless the reply says otherwise. */
export const callId = (call: Reply.ToolCall, request: ChatRequest, index: number): string =>
  call.id ?? `call_${request.index}_${index}`

/** The deltas of a text. */
export const pieces = (text: string | ReadonlyArray<string> | undefined): Iterable<string> =>
  text === undefined ? [] : typeof text === "string" ? cut(text, defaultPiece) : text

/** The deltas of the arguments of a call. */
export const fragments = (call: Reply.ToolCall): Iterable<string> =>
  typeof call.fragments === "object" ? call.fragments : cut(argumentsText(call), call.fragments ?? defaultFragment)

/** `null` when none is sent. */
export const usageOf = (reply: Reply.Message, request: ChatRequest): Reply.Usage | null =>
  reply.usage === null ? null : (reply.usage ?? estimate(reply, request))

/** Tokens of the prompt that came out of the provider's cache. */
export const cachedOf = (usage: Reply.Usage): number | undefined =>
  usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens

/** Slices of `length` units; a pair of surrogates stays together. */
function* cut(text: string, length: number): Generator<string> {
  let from = 0
  while (from < text.length) {
    let to = Math.min(text.length, from + Math.max(1, length))
    const unit = text.charCodeAt(to - 1)
    if (to < text.length && unit >= 0xd800 && unit <= 0xdbff) to++
    yield text.slice(from, to)
    from = to
  }
}

const estimate = (reply: Reply.Message, request: ChatRequest): Reply.Usage => {
  const reasoning = Math.ceil(joined(reply.reasoning).length / 4)
  const calls = (reply.toolCalls ?? []).reduce((sum, call) => sum + call.name.length + argumentsText(call).length, 0)
  const prompt = Math.ceil(request.bytes / 4)
  const output = reasoning + Math.ceil((joined(reply.text).length + calls) / 4)
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_cache_hit_tokens: 0,
    prompt_cache_miss_tokens: prompt,
    ...(reasoning > 0 && { completion_tokens_details: { reasoning_tokens: reasoning } })
  }
}
