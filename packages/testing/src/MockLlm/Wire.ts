/**
 * The DeepSeek chat-completions wire format, written from the server's side.
 */
import type { ChatRequest } from "../ChatRequest.ts"
import type * as Reply from "../Reply.ts"

/** Deltas of one answer can number in the hundreds of thousands: they go out in blocks of about this many characters. */
const blockLength = 48 * 1024

const defaultPiece = 4
const defaultFragment = 16

const chunkHead = (model: string) =>
  `data: {"id":"chatcmpl-mock","object":"chat.completion.chunk","created":1700000000,"model":${JSON.stringify(model)},` +
  `"system_fingerprint":"fp_mock","choices":[`

const choice = (delta: unknown, finish: string | null) =>
  `{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}`

const done = "data: [DONE]\n\n"

const eventOf = (reply: Reply.Message, model: string) => {
  const head = chunkHead(model)
  const usage = reply.usageOn === "every" ? JSON.stringify(reply.usage ?? null) : "null"
  return (delta: unknown, finish: string | null = null) => `${head}${choice(delta, finish)}],"usage":${usage}}\n\n`
}

/** The events that carry what the model says: they depend on nothing in the request but the model's name. */
export function* opening(reply: Reply.Message, model: string): Generator<string> {
  const event = eventOf(reply, model)
  yield event({ role: "assistant", content: "" })
  for (const piece of pieces(reply.reasoning)) yield event({ content: null, reasoning_content: piece })
  for (const piece of pieces(reply.text)) yield event({ content: piece })
}

/** The rest of the answer: tool calls, whose default ids are unique per request, finish and usage. */
export function* closing(reply: Reply.Message, request: ChatRequest): Generator<string> {
  const event = eventOf(reply, request.model)
  const head = chunkHead(request.model)
  const usage = reply.usage === null ? null : (reply.usage ?? estimate(reply, request))
  const withUsage = `],"usage":${JSON.stringify(usage)}}\n\n`
  for (const [index, call] of (reply.toolCalls ?? []).entries()) {
    const id = call.id ?? `call_${request.index}_${index}`
    yield event({ tool_calls: [{ index, id, type: "function", function: { name: call.name, arguments: "" } }] })
    for (const piece of fragments(call)) yield event({ tool_calls: [{ index, function: { arguments: piece } }] })
  }
  const finish = finishOf(reply)
  if (finish !== null) yield reply.usageOn === "finish" ? `${head}${choice({}, finish)}${withUsage}` : event({}, finish)
  if (usage !== null && (reply.usageOn ?? "trailing") === "trailing") yield `${head}${withUsage}`
  if (reply.done !== false) yield done
}

/** The events of a list of raw frames. */
export function* frames(reply: Reply.Frames): Generator<string> {
  for (const frame of reply.frames) yield `data: ${typeof frame === "string" ? frame : JSON.stringify(frame)}\n\n`
  if (reply.done !== false) yield done
}

/** The same answer to a request that did not ask for a stream. */
export const completion = (reply: Reply.Message, request: ChatRequest): object => ({
  id: "chatcmpl-mock",
  object: "chat.completion",
  created: 1700000000,
  model: request.model,
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: joined(reply.text),
        ...(reply.reasoning !== undefined && { reasoning_content: joined(reply.reasoning) }),
        ...(reply.toolCalls !== undefined && {
          tool_calls: reply.toolCalls.map((call, index) => ({
            id: call.id ?? `call_${request.index}_${index}`,
            type: "function",
            function: { name: call.name, arguments: argumentsText(call) }
          }))
        })
      },
      finish_reason: finishOf(reply)
    }
  ],
  usage: reply.usage === null ? null : (reply.usage ?? estimate(reply, request))
})

/** Events joined into larger writes. */
export function* blocks(events: Iterable<string>): Generator<string> {
  let block = ""
  for (const event of events) {
    block += event
    if (block.length >= blockLength) {
      yield block
      block = ""
    }
  }
  if (block !== "") yield block
}

const finishOf = (reply: Reply.Message): string | null =>
  reply.finish === undefined ? ((reply.toolCalls?.length ?? 0) > 0 ? "tool_calls" : "stop") : reply.finish

const joined = (text: string | ReadonlyArray<string> | undefined): string =>
  text === undefined ? "" : typeof text === "string" ? text : text.join("")

const argumentsText = (call: Reply.ToolCall): string =>
  typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments)

const pieces = (text: string | ReadonlyArray<string> | undefined): Iterable<string> =>
  text === undefined ? [] : typeof text === "string" ? cut(text, defaultPiece) : text

const fragments = (call: Reply.ToolCall): Iterable<string> =>
  typeof call.fragments === "object" ? call.fragments : cut(argumentsText(call), call.fragments ?? defaultFragment)

/** Slices of `length` units; a pair of surrogates stays together. */
function* cut(text: string, length: number): Generator<string> {
  let from = 0
  while (from < text.length) {
    let to = Math.min(text.length, from + Math.max(1, length))
    const unit = text.charCodeAt(to - 1)
    if (to < text.length && unit >= 0xd800 && unit <= 0xdbff) to++
    yield text.slice(from, to)
    from = to
  }
}

const estimate = (reply: Reply.Message, request: ChatRequest): Reply.Usage => {
  const reasoning = Math.ceil(joined(reply.reasoning).length / 4)
  const calls = (reply.toolCalls ?? []).reduce((sum, call) => sum + call.name.length + argumentsText(call).length, 0)
  const prompt = Math.ceil(request.bytes / 4)
  const output = reasoning + Math.ceil((joined(reply.text).length + calls) / 4)
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_cache_hit_tokens: 0,
    prompt_cache_miss_tokens: prompt,
    ...(reasoning > 0 && { completion_tokens_details: { reasoning_tokens: reasoning } })
  }
}
