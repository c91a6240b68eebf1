/**
 * Structural checks of stream chunks and of what they carry.
 */
import { block, replayEnvelope } from "./Content.ts"
import { name, nested, number, optional, text } from "./Fields.ts"
import type { Fields, Problem } from "./Fields.ts"

export const tokenUsage = (value: Fields): Problem =>
  number(value, "inputTokens") ??
  number(value, "outputTokens") ??
  optional(value, "cacheReadTokens", number) ??
  optional(value, "cacheWriteTokens", number) ??
  optional(value, "reasoningTokens", number)

export const failure = (value: Fields): Problem =>
  text(value, "message") ??
  text(value, "code") ??
  optional(value, "status", number) ??
  optional(value, "providerRetryAfterMs", number) ??
  optional(value, "requestId", text)

const finishReason = (value: Fields): Problem => {
  switch (value["kind"]) {
    case "stop":
    case "tool-calls":
    case "max-tokens":
      return undefined
    case "error":
    case "aborted":
      return nested(value, "failure", failure)
    default:
      return "kind is not a finish reason"
  }
}

export const chunk = (value: Fields): Problem => {
  switch (value["type"]) {
    case "text-delta":
    case "reasoning-delta":
      return number(value, "index") ?? text(value, "text")
    case "tool-call-delta":
      return (
        number(value, "index") ?? text(value, "id") ?? optional(value, "name", text) ?? text(value, "argumentsDelta")
      )
    case "block-start":
      return number(value, "index") ?? name(value, "blockType")
    case "block-end":
      return number(value, "index") ?? nested(value, "block", block)
    case "usage":
      return nested(value, "usage", tokenUsage)
    case "finish":
      return (
        nested(value, "reason", finishReason) ??
        optional(value, "replayState", (fields, key) => nested(fields, key, replayEnvelope))
      )
    default:
      return "type is not a chunk type"
  }
}
