/**
 * A request as a script sees it, whatever the wire format: the parsed body read leniently, so that a script can react to a broken
 * request as well as to a good one. All formats are seen as chat completions are: the system prompt is a message, a tool result is one,
 * and the calls of an answer belong to its message.
 */
import * as Chat from "./ChatRequest/Chat.ts"
import * as Messages from "./ChatRequest/Messages.ts"
import * as Raw from "./ChatRequest/Raw.ts"
import * as Responses from "./ChatRequest/Responses.ts"

export { isRecord } from "./ChatRequest/Raw.ts"

/** The wire formats that the mock model speaks. */
export type Dialect = "chat-completions" | "responses" | "messages"

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** The raw JSON text. */
  readonly arguments: string
}

export interface Message {
  readonly role: string
  /** The text of the message, parts joined; `""` when there is none. */
  readonly text: string
  readonly reasoning: string | undefined
  readonly toolCalls: ReadonlyArray<ToolCall>
  readonly toolCallId: string | undefined
}

export interface Tool {
  readonly name: string
  readonly description: string
  /** The schema of the arguments, as it was sent. */
  readonly parameters: unknown
}

/** What the model is asked. */
export interface Conversation {
  readonly messages: ReadonlyArray<Message>
  readonly tools: ReadonlyArray<Tool>
}

export interface ChatRequest extends Conversation {
  readonly dialect: Dialect
  /** Zero for the first request the server got. */
  readonly index: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly model: string
  readonly stream: boolean
  readonly toolNames: ReadonlyArray<string>
  /** Size of the body in bytes. */
  readonly bytes: number
  /** The parsed body, whatever it was; `undefined` when it was not JSON. */
  readonly json: unknown
}

const readers: Readonly<Record<Dialect, (body: Raw.Raw) => Conversation>> = {
  "chat-completions": Chat.read,
  responses: Responses.read,
  messages: Messages.read
}

/** Reads `json`; what does not fit is left out. */
export const parse = (
  json: unknown,
  at: Pick<ChatRequest, "index" | "headers" | "bytes">,
  dialect: Dialect = "chat-completions"
): ChatRequest => {
  const body = Raw.record(json)
  const { messages, tools } = readers[dialect](body)
  return {
    ...at,
    dialect,
    model: Raw.string(body.model),
    stream: body.stream === true,
    messages,
    tools,
    toolNames: tools.map(({ name }) => name),
    json
  }
}

/** The last message, if there is any. */
export const last = (request: ChatRequest): Message | undefined => request.messages.at(-1)

/** The tool messages at the end of the conversation: the results the model has not answered yet. */
export const pendingResults = (request: ChatRequest): ReadonlyArray<Message> => {
  const from = request.messages.findLastIndex((m) => m.role !== "tool")
  return request.messages.slice(from + 1)
}

/** How many answers the conversation already holds. */
export const answers = (request: ChatRequest): number => request.messages.filter((m) => m.role === "assistant").length
