/**
 * The dialects whose events name their type, as far as a transport has to know them: what is a piece of the answer, what ends it, and
 * what it cost.
 */
import type { TokenUsage } from "@dsh/protocol/StreamChunk"
import { count, isRecord, record, text } from "../Lenient.ts"
import type { Raw } from "../Lenient.ts"

/** What an event means to the transport. */
export interface Meaning {
  /** As the library may have it: with the members it takes for granted. Absent: not at all. */
  readonly event?: Raw
  readonly isContent?: boolean
  /** A piece of a call's arguments, and the event with another piece in its place. */
  readonly fragment?: { readonly of: unknown; readonly text: string; readonly event: (text: string) => Raw }
  /** Why the answer ends, as the provider names it. */
  readonly finish?: string
  readonly usage?: Raw
  readonly isLast?: boolean
  /** The error it reports. */
  readonly error?: unknown
}

export interface Dialect {
  readonly read: (event: Raw, type: string) => Meaning
  /** The buckets behind all that was reported, the later over the earlier. */
  readonly usage: (reported: Raw) => TokenUsage | undefined
}

// -----------------------------------------------------------------------------
// OpenAI's Responses
// -----------------------------------------------------------------------------

const spoken = new Set([
  "response.output_text.delta",
  "response.refusal.delta",
  "response.reasoning_text.delta",
  "response.reasoning_summary_text.delta",
  "response.function_call_arguments.delta"
])

const spokenPiece = (event: Raw, delta: string, type: string): Meaning => ({
  event,
  isContent: delta !== "",
  ...(type === "response.function_call_arguments.delta" && {
    fragment: { of: event.output_index, text: delta, event: (text) => ({ ...event, delta: text }) }
  })
})

/** The type of the last event or its status: whichever is worse is believed. */
const ending = (event: Raw, response: Raw, type: string): Meaning => {
  const is = (status: string) => response.status === status || type === `response.${status}`
  if (is("failed") || is("cancelled")) return { error: response.error ?? { message: "the response failed" } }
  const isCut = is("incomplete")
  const reason = text(record(response.incomplete_details).reason) ?? "length"
  return {
    event: { ...event, response: { ...response, status: isCut ? "incomplete" : "completed" } },
    finish: isCut ? reason : "stop",
    usage: record(response.usage),
    isLast: true
  }
}

export const responses: Dialect = {
  read: (event, type) => {
    if (spoken.has(type)) return typeof event.delta === "string" ? spokenPiece(event, event.delta, type) : {}
    if (type.startsWith("response.output_item.")) return isRecord(event.item) ? { event } : {}
    if (type.endsWith("_part.added") || type.endsWith("_part.done")) return isRecord(event.part) ? { event } : {}
    const response = record(event.response)
    switch (type) {
      case "response.created":
      case "response.in_progress":
      case "response.queued":
        return isRecord(event.response) ? { event } : {}
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return ending(event, response, type)
      default:
        return { event }
    }
  },
  usage: (reported) => {
    const input = count(reported.input_tokens)
    const output = count(reported.output_tokens)
    if (input === undefined && output === undefined) return undefined
    const cached = count(record(reported.input_tokens_details).cached_tokens)
    const reasoning = count(record(reported.output_tokens_details).reasoning_tokens)
    return {
      inputTokens: Math.max(0, (input ?? 0) - (cached ?? 0)),
      outputTokens: output ?? 0,
      ...(cached !== undefined && { cacheReadTokens: cached }),
      ...(reasoning !== undefined && { reasoningTokens: reasoning })
    }
  }
}

// -----------------------------------------------------------------------------
// Anthropic's Messages
// -----------------------------------------------------------------------------

const pieces: Readonly<Record<string, string>> = {
  text_delta: "text",
  thinking_delta: "thinking",
  input_json_delta: "partial_json",
  signature_delta: "signature"
}

export const messages: Dialect = {
  read: (event, type) => {
    switch (type) {
      case "message_start": {
        const message = record(event.message)
        const usage = record(message.usage)
        return { event: { ...event, message: { ...message, usage } }, usage }
      }
      case "content_block_start":
        return isRecord(event.content_block) ? { event } : {}
      case "content_block_delta": {
        const { delta } = event
        if (!isRecord(delta)) return {}
        const field = pieces[text(delta.type) ?? ""]
        if (field === undefined) return { event }
        const piece = delta[field]
        if (typeof piece !== "string") return {}
        return {
          event,
          isContent: field !== "signature" && piece !== "",
          ...(field === "partial_json" && {
            fragment: {
              of: event.index,
              text: piece,
              event: (text) => ({ ...event, delta: { ...delta, [field]: text } })
            }
          })
        }
      }
      case "message_delta": {
        const delta = record(event.delta)
        const usage = record(event.usage)
        const finish = text(delta.stop_reason)
        if (finish === undefined) return { event: { ...event, delta, usage }, usage }
        // Newer than some libraries, which stop at what they do not know.
        const known = finish === "model_context_window_exceeded" ? "max_tokens" : finish
        return { event: { ...event, delta: { ...delta, stop_reason: known }, usage }, usage, finish }
      }
      case "message_stop":
        return { event, isLast: true }
      default:
        return { event }
    }
  },
  // Anthropic counts what it read from its cache, and what it wrote to it, apart from the input.
  usage: (reported) => {
    const input = count(reported.input_tokens)
    const output = count(reported.output_tokens)
    if (input === undefined && output === undefined) return undefined
    const read = count(reported.cache_read_input_tokens)
    const write = count(reported.cache_creation_input_tokens)
    return {
      inputTokens: input ?? 0,
      outputTokens: output ?? 0,
      ...(read !== undefined && { cacheReadTokens: read }),
      ...(write !== undefined && { cacheWriteTokens: write })
    }
  }
}
