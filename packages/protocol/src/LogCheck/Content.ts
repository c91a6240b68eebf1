/**
 * Structural checks of blocks and messages. Variants that an extension may have added are only asked for their discriminator.
 */
import { flag, isFields, name, nested, number, objects, optional, present, text } from "./Fields.ts"
import type { Fields, Problem } from "./Fields.ts"

const attachment = (value: Fields): Problem =>
  name(value, "id") ??
  text(value, "mediaType") ??
  number(value, "bytes") ??
  optional(value, "width", number) ??
  optional(value, "height", number)

export const block = (value: Fields): Problem => {
  switch (value["type"]) {
    case "text":
    case "reasoning":
      return text(value, "text")
    case "image":
      return nested(value, "attachment", attachment)
    case "tool-call":
      return name(value, "id") ?? text(value, "name") ?? text(value, "arguments")
    case "tool-result":
      return toolResultBlock(value)
    default:
      return name(value, "type")
  }
}

const toolResultBlock = (value: Fields): Problem =>
  name(value, "toolCallId") ?? objects(value, "content", block) ?? optional(value, "isError", flag)

export const replayEnvelope = (value: Fields): Problem =>
  present(value, "response") ??
  optional(value, "blocks", (fields, key) => (Array.isArray(fields[key]) ? undefined : `${key} is not an array`))

const forms = new Set(["instructions", "catalog", "snapshot", "notice", "relay", "recall"])

const section = (value: Fields): Problem => text(value, "name") ?? text(value, "text")

const inputSource = (value: Fields): Problem => {
  switch (value["kind"]) {
    case "user":
      return undefined
    case "plugin":
      return (
        text(value, "plugin") ??
        optional(value, "form", (fields, key) =>
          forms.has(fields[key] as string) ? undefined : `${key} is unknown`
        ) ??
        optional(value, "summary", text) ??
        optional(value, "sections", (fields, key) => objects(fields, key, section))
      )
    case "model":
    case "tool":
      return `kind "${value["kind"]}" does not fit a user message`
    default:
      return name(value, "kind")
  }
}

const modelSource = (value: Fields): Problem =>
  value["kind"] === "model"
    ? (name(value, "provider") ??
      name(value, "model") ??
      optional(value, "replayState", (fields, key) => nested(fields, key, replayEnvelope)))
    : "kind is not model"

const message = (value: Fields, role: string): Problem =>
  name(value, "id") ?? (value["role"] === role ? undefined : `role is not ${role}`) ?? objects(value, "content", block)

export const userMessage = (value: Fields): Problem => message(value, "user") ?? nested(value, "source", inputSource)

export const assistantMessage = (value: Fields): Problem =>
  message(value, "assistant") ?? nested(value, "source", modelSource)

export const toolResultMessage = (value: Fields): Problem => {
  const problem = message(value, "user") ?? nested(value, "source", toolSource)
  if (problem !== undefined) return problem
  const { content, source } = value
  if (!Array.isArray(content) || content.length !== 1) return "content is not exactly one block"
  const only: unknown = content[0]
  if (!isFields(only) || only["type"] !== "tool-result") return "content is not a tool-result block"
  return isFields(source) && source["callId"] === only["toolCallId"] ? undefined : "source and block name two calls"
}

const toolSource = (value: Fields): Problem => (value["kind"] === "tool" ? name(value, "callId") : "kind is not tool")
