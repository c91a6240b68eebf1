/**
 * A body of the Messages API: tool results are parts of a user's message there.
 */
import type { Conversation, Message, Tool } from "../ChatRequest.ts"
import { array, record, string, text } from "./Raw.ts"
import type { Raw } from "./Raw.ts"

export const read = (body: Raw): Conversation => {
  const system = text(body.system)
  return {
    messages: [...(system === "" ? [] : [message("system", system)]), ...array(body.messages).flatMap(messagesOf)],
    tools: array(body.tools).map(tool)
  }
}

const messagesOf = (value: unknown): ReadonlyArray<Message> => {
  const raw = record(value)
  const parts = array(raw.content).map(record)
  if (raw.role === "assistant") return [assistant(raw, parts)]
  const results = parts
    .filter(({ type }) => type === "tool_result")
    .map((part) => ({ ...message("tool", text(part.content)), toolCallId: string(part.tool_use_id) }))
  const said = typeof raw.content === "string" || parts.length > results.length || parts.length === 0
  return [...results, ...(said ? [message(string(raw.role), text(raw.content))] : [])]
}

const message = (role: string, content: string): Message => ({
  role,
  text: content,
  reasoning: undefined,
  toolCalls: [],
  toolCallId: undefined
})

const assistant = (raw: Raw, parts: ReadonlyArray<Raw>): Message => {
  const thoughts = parts.filter(({ type }) => type === "thinking").map(({ thinking }) => string(thinking))
  return {
    ...message("assistant", text(raw.content)),
    reasoning: thoughts.length === 0 ? undefined : thoughts.join(""),
    toolCalls: parts
      .filter(({ type }) => type === "tool_use")
      .map((part) => ({
        id: string(part.id),
        name: string(part.name),
        arguments: part.input === undefined ? "" : JSON.stringify(part.input)
      }))
  }
}

const tool = (value: unknown): Tool => {
  const raw = record(value)
  return { name: string(raw.name), description: string(raw.description), parameters: raw.input_schema }
}
