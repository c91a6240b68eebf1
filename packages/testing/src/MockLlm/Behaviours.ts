/**
 * The named behaviours, each as the reply it stands for.
 */
import * as ChatRequest from "../ChatRequest.ts"
import * as Reply from "../Reply.ts"
import { wireOf } from "./Wire.ts"

const hello = "Hello from the mock model."

/** An answer as far as the first words: what is left when a stream breaks off. */
const partial = Reply.text(["Hello from", " the mock"], { finish: null, usage: null, done: false })

/** The reply behind a behaviour. Delivery options of the behaviour override those of the reply. */
export const resolve = (
  behaviour: Reply.Behaviour,
  request: ChatRequest.ChatRequest
): Exclude<Reply.Reply, Reply.Behaviour> => {
  const { _tag, name, ...delivery } = behaviour
  const reply = byName(name, request)
  return reply._tag === "Reset" ? reply : { ...reply, ...delivery }
}

const byName = (name: Reply.BehaviourName, request: ChatRequest.ChatRequest): Exclude<Reply.Reply, Reply.Behaviour> => {
  switch (name) {
    case "success":
      return Reply.text(hello)
    case "slow_success":
      return Reply.text(hello, { delayMs: 200, keepAlives: 3, paceMs: 100 })
    case "reasoning_success":
      return Reply.text(hello, { reasoning: "The user greets me, so I greet back." })
    case "tool_call_success":
      return toolCall(request)
    case "max_tokens":
      return Reply.text("Hello from the mock mo", { finish: "length" })
    case "connection_reset":
      return Reply.reset
    case "stream_disconnect":
      return Reply.sse(": connected\n\n", { ending: "reset" })
    case "partial_disconnect":
      return { ...partial, ending: "reset" }
    case "stall":
      return Reply.sse("", { ending: "hold" })
    case "empty":
      return Reply.message({ usage: null })
    case "empty_body":
      return Reply.http(200, { headers: { "content-type": "text/event-stream" }, body: "" })
    case "stream_eof":
      return Reply.sse(": connected\n\n")
    case "partial_eof":
      return partial
    case "malformed_json":
      return Reply.frames([wireOf(request.dialect).broken.json])
    case "malformed_event":
      return Reply.frames(wireOf(request.dialect).broken.events)
    default:
      return failure(name)
  }
}

/** Calls the first tool on offer once, and answers its result. */
const toolCall = (request: ChatRequest.ChatRequest): Reply.Message => {
  const [tool] = request.toolNames
  return tool === undefined || ChatRequest.last(request)?.role === "tool"
    ? Reply.text(hello)
    : Reply.toolCalls([{ name: tool, arguments: {} }])
}

type Failure =
  | "rate_limit"
  | "server_error"
  | "service_unavailable"
  | "auth_error"
  | "invalid_request"
  | "context_overflow"
  | "quota_exceeded"
  | "wrong_content_type"

const failure = (name: Failure): Reply.Http => {
  switch (name) {
    case "rate_limit": {
      const detail = {
        message: "Rate limit reached for requests",
        type: "rate_limit_error",
        code: "rate_limit_exceeded"
      }
      return Reply.error(429, detail, { "retry-after": "1" })
    }
    case "server_error":
      return Reply.error(500, { message: "Internal server error", type: "server_error", code: "server_error" })
    case "service_unavailable":
      return Reply.error(503, { message: "The server is overloaded", type: "server_error", code: "overloaded" })
    case "auth_error":
      return Reply.error(401, {
        message: "Authentication Fails, your api key is invalid",
        type: "authentication_error"
      })
    case "invalid_request":
      return Reply.error(400, { message: "Invalid request: unknown parameter" })
    case "context_overflow":
      return Reply.error(400, {
        message:
          "This model's maximum context length is 1048576 tokens. However, you requested 1174018 tokens " +
          "(1042946 in the messages, 131072 in the completion). Please reduce the length of the messages or completion."
      })
    case "quota_exceeded":
      return Reply.error(402, { message: "Insufficient Balance", type: "unknown_error" })
    case "wrong_content_type": {
      const body = "<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>"
      return Reply.http(200, { headers: { "content-type": "text/html; charset=utf-8" }, body })
    }
  }
}
