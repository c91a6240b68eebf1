/**
 * A body of the Responses API: a list of items, of which those of one answer follow each other.
 */
import type { Conversation, Message, Tool, ToolCall } from "../ChatRequest.ts"
import { array, record, string, text } from "./Raw.ts"
import type { Raw } from "./Raw.ts"

export const read = (body: Raw): Conversation => {
  const input = typeof body.input === "string" ? [{ role: "user", content: body.input }] : array(body.input)
  const messages: Array<Message> = []
  if (typeof body.instructions === "string") messages.push(message("system", body.instructions))
  let answer: Array<Raw> = []
  const flush = () => {
    if (answer.length > 0) messages.push(assistant(answer))
    answer = []
  }
  for (const value of input) {
    const item = record(value)
    if (isOfAnswer(item)) {
      answer.push(item)
      continue
    }
    flush()
    messages.push(
      item.type === "function_call_output"
        ? { ...message("tool", text(item.output)), toolCallId: string(item.call_id) }
        : message(item.role === "developer" ? "system" : string(item.role), text(item.content))
    )
  }
  flush()
  return { messages, tools: array(body.tools).map(tool) }
}

const isOfAnswer = (item: Raw): boolean =>
  item.type === "reasoning" || item.type === "function_call" || item.role === "assistant"

const message = (role: string, content: string): Message => ({
  role,
  text: content,
  reasoning: undefined,
  toolCalls: [],
  toolCallId: undefined
})

const assistant = (items: ReadonlyArray<Raw>): Message => {
  const thoughts = items.filter(({ type }) => type === "reasoning").map(({ summary }) => text(summary))
  return {
    ...message("assistant", items.map(({ content, role }) => (role === "assistant" ? text(content) : "")).join("")),
    reasoning: thoughts.length === 0 ? undefined : thoughts.join(""),
    toolCalls: items.filter(({ type }) => type === "function_call").map(toolCall)
  }
}

const toolCall = (item: Raw): ToolCall => ({
  id: string(item.call_id),
  name: string(item.name),
  arguments: string(item.arguments)
})

const tool = (value: unknown): Tool => {
  const raw = record(value)
  return { name: string(raw.name), description: string(raw.description), parameters: raw.parameters }
}
