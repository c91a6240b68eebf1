/**
 * What is set right in the body that pi-ai makes of a conversation. It keeps the arguments of calls as objects, of which it writes JSON of
 * its own; the text the model wrote is put back. So is what it leaves out.
 */
import { isRecord, text } from "@dsh/llm/Lenient"
import type { Raw } from "@dsh/llm/Lenient"
import type { Context } from "@earendil-works/pi-ai"
import type { Conversation } from "./Conversation.ts"
import type { Profile } from "./Profile.ts"

/** The body that pi-ai made, with what it lost put back. */
export const repaired = (
  payload: unknown,
  { context, written }: Conversation,
  { emptyTools }: Pick<Profile, "emptyTools">
): unknown => {
  if (!isRecord(payload)) return payload
  const { tools, ...rest } = withoutVainThought(payload)
  const isEmpty = Array.isArray(tools) && tools.length === 0
  return {
    ...rest,
    ...(Array.isArray(payload.messages) && { messages: payload.messages.map((one) => message(one, written)) }),
    ...(Array.isArray(payload.input) && { input: payload.input.map((one) => item(one, written)) }),
    ...(Array.isArray(tools) &&
      (!isEmpty || emptyTools === "send") && { tools: tools.map((tool, index) => schema(tool, context, index)) })
  }
}

/**
 * Anthropic's models cannot think on in the middle of calls that were not thought of here, such as those of another model: such a request
 * is refused, so it is made without thinking.
 */
const withoutVainThought = (payload: Raw): Raw => {
  const { messages, output_config: _, ...rest } = payload
  if (!isRecord(rest.thinking) || rest.thinking.type === "disabled" || !Array.isArray(messages)) return payload
  const at = messages.findLastIndex((one) => isRecord(one) && one.role === "assistant")
  const isCalling = firstOf(messages[at + 1]) === "tool_result"
  return !isCalling || firstOf(messages[at])?.endsWith("thinking") === true
    ? payload
    : { ...rest, messages, thinking: { type: "disabled" } }
}

/** The type of the first block of a message. */
const firstOf = (value: unknown): string | undefined => {
  const content: unknown = isRecord(value) ? value.content : undefined
  const first: unknown = Array.isArray(content) ? content[0] : undefined
  return isRecord(first) ? text(first.type) : undefined
}

const message = (value: unknown, written: Conversation["written"]): unknown => {
  if (!isRecord(value) || value.role !== "assistant" || Array.isArray(value.content)) return value
  const calls: ReadonlyArray<unknown> | undefined = Array.isArray(value.tool_calls) ? value.tool_calls : undefined
  return {
    ...value,
    // Many servers refuse a message without content.
    content: value.content ?? "",
    ...(calls !== undefined && { tool_calls: calls.map((call) => completionCall(call, written)) })
  }
}

const completionCall = (call: unknown, written: Conversation["written"]): unknown => {
  const args = isRecord(call) && typeof call.id === "string" ? written.get(call.id) : undefined
  return isRecord(call) && isRecord(call.function) && args !== undefined
    ? { ...call, function: { ...call.function, arguments: args } }
    : call
}

const item = (value: unknown, written: Conversation["written"]): unknown => {
  if (!isRecord(value) || value.type !== "function_call" || typeof value.call_id !== "string") return value
  return { ...value, arguments: written.get(value.call_id) ?? value.arguments }
}

/** For Anthropic, pi-ai keeps of a schema only its properties and which of them are required. */
const schema = (tool: unknown, { tools = [] }: Context, index: number): unknown =>
  isRecord(tool) && isRecord(tool.input_schema) ? { ...tool, input_schema: tools[index]?.parameters } : tool
