/**
 * A chat-completions body.
 */
import type { Conversation, Message, Tool, ToolCall } from "../ChatRequest.ts"
import { array, record, string, text } from "./Raw.ts"
import type { Raw } from "./Raw.ts"

export const read = (body: Raw): Conversation => ({
  messages: array(body.messages).map(message),
  tools: array(body.tools).map(tool)
})

const message = (value: unknown): Message => {
  const raw = record(value)
  return {
    role: string(raw.role),
    text: text(raw.content),
    reasoning: typeof raw.reasoning_content === "string" ? raw.reasoning_content : undefined,
    toolCalls: array(raw.tool_calls).map(toolCall),
    toolCallId: typeof raw.tool_call_id === "string" ? raw.tool_call_id : undefined
  }
}

const toolCall = (value: unknown): ToolCall => {
  const call = record(value)
  const fn = record(call.function)
  return { id: string(call.id), name: string(fn.name), arguments: string(fn.arguments) }
}

const tool = (value: unknown): Tool => {
  const fn = record(record(value).function)
  return { name: string(fn.name), description: string(fn.description), parameters: fn.parameters }
}
