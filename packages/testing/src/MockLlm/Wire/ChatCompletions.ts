/**
 * The DeepSeek chat-completions wire format, written from the server's side.
 */
import type * as Reply from "../../Reply.ts"
import type { Wire } from "../Wire.ts"
import * as Content from "./Content.ts"

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

export const chatCompletions: Wire = {
  *opening(reply, model) {
    const event = eventOf(reply, model)
    yield event({ role: "assistant", content: "" })
    for (const piece of Content.pieces(reply.reasoning)) yield event({ content: null, reasoning_content: piece })
    for (const piece of Content.pieces(reply.text)) yield event({ content: piece })
  },

  *closing(reply, request) {
    const event = eventOf(reply, request.model)
    const head = chunkHead(request.model)
    const usage = Content.usageOf(reply, request)
    const withUsage = `],"usage":${JSON.stringify(usage)}}\n\n`
    for (const [index, call] of (reply.toolCalls ?? []).entries()) {
      const id = Content.callId(call, request, index)
      yield event({ tool_calls: [{ index, id, type: "function", function: { name: call.name, arguments: "" } }] })
      for (const piece of Content.fragments(call))
        yield event({ tool_calls: [{ index, function: { arguments: piece } }] })
    }
    const finish = Content.finishOf(reply)
    if (finish !== null)
      yield reply.usageOn === "finish" ? `${head}${choice({}, finish)}${withUsage}` : event({}, finish)
    if (usage !== null && (reply.usageOn ?? "trailing") === "trailing") yield `${head}${withUsage}`
    if (reply.done !== false) yield done
  },

  event: (frame) => `data: ${typeof frame === "string" ? frame : JSON.stringify(frame)}\n\n`,

  ended: () => [done],

  completion: (reply, request) => ({
    id: "chatcmpl-mock",
    object: "chat.completion",
    created: 1700000000,
    model: request.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: Content.joined(reply.text),
          ...(reply.reasoning !== undefined && { reasoning_content: Content.joined(reply.reasoning) }),
          ...(reply.toolCalls !== undefined && {
            tool_calls: reply.toolCalls.map((call, index) => ({
              id: Content.callId(call, request, index),
              type: "function",
              function: { name: call.name, arguments: Content.argumentsText(call) }
            }))
          })
        },
        finish_reason: Content.finishOf(reply)
      }
    ],
    usage: Content.usageOf(reply, request)
  }),

  error: (_status, { code, message, type }) => ({ error: { message, type, param: null, code } }),

  requestId: "x-request-id",

  broken: {
    json: '{"choices":[{"index":0,"delta":{"content":"Hel',
    events: [{ choices: "none", usage: 7 }, 42, { choices: [{ index: 0, delta: "text" }] }]
  }
}
