/**
 * A chat-completions request as a script sees it: the parsed body read leniently, so that a script can react to a broken request as
 * well as to a good one.
 */

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

export interface ChatRequest {
  /** Zero for the first request the server got. */
  readonly index: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly model: string
  readonly stream: boolean
  readonly messages: ReadonlyArray<Message>
  readonly toolNames: ReadonlyArray<string>
  /** Size of the body in bytes. */
  readonly bytes: number
  /** The parsed body, whatever it was; `undefined` when it was not JSON. */
  readonly json: unknown
}

/** Reads `json`; what does not fit is left out. */
export const parse = (
  json: unknown,
  at: { readonly index: number; readonly headers: Readonly<Record<string, string>>; readonly bytes: number }
): ChatRequest => {
  const body = isRecord(json) ? json : {}
  return {
    ...at,
    model: string(body.model),
    stream: body.stream === true,
    messages: array(body.messages).map(message),
    toolNames: array(body.tools).map((tool) => string(record(record(tool).function).name)),
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

const text = (content: unknown): string =>
  typeof content === "string"
    ? content
    : array(content)
        .map((part) => string(record(part).text))
        .join("")

/** True for a JSON object, false for arrays and scalars. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const record = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {})
const array = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const string = (value: unknown): string => (typeof value === "string" ? value : "")
