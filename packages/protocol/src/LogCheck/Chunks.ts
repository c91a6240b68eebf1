/**
 * Structural checks of stream chunks and of what they carry.
 */
import { block, replayEnvelope } from "./Content.ts"
import { count, name, nested, optional, text } from "./Fields.ts"
import type { Fields, Problem } from "./Fields.ts"

export const tokenUsage = (value: Fields): Problem =>
  count(value, "inputTokens") ??
  count(value, "outputTokens") ??
  optional(value, "cacheReadTokens", count) ??
  optional(value, "cacheWriteTokens", count) ??
  optional(value, "reasoningTokens", count)

export const failure = (value: Fields): Problem =>
  text(value, "message") ??
  name(value, "code") ??
  optional(value, "status", httpStatus) ??
  optional(value, "providerRetryAfterMs", positive) ??
  optional(value, "requestId", text)

const httpStatus = (fields: Fields, key: string): Problem => {
  const status = fields[key]
  return Number.isSafeInteger(status) && Number(status) >= 100 && Number(status) <= 599
    ? undefined
    : `${key} is not an HTTP status`
}

const positive = (fields: Fields, key: string): Problem =>
  typeof fields[key] === "number" && Number(fields[key]) > 0 ? undefined : `${key} is not a positive number`

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
      return count(value, "index") ?? text(value, "text")
    case "tool-call-delta":
      return (
        count(value, "index") ?? name(value, "id") ?? optional(value, "name", text) ?? text(value, "argumentsDelta")
      )
    case "block-start":
      return count(value, "index") ?? name(value, "blockType")
    case "block-end":
      return count(value, "index") ?? nested(value, "block", block)
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
