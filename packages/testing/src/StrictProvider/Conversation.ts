/**
 * The messages of a request: each by itself, then the pairing of tool calls and tool results.
 */
import { isRecord } from "../ChatRequest.ts"
import * as Content from "./Content.ts"
import { functionName, isJsonObject } from "./Report.ts"
import type { Report } from "./Report.ts"

type Raw = Readonly<Record<string, unknown>>

/** Reports what a strict endpoint refuses in `messages`. `thinking` makes reasoning mandatory on tool turns. */
export const check = (messages: unknown, thinking: boolean, report: Report): void => {
  if (!Array.isArray(messages) || messages.length === 0) {
    report.add("messages-empty", "$.messages", "messages must be a non-empty array")
    return
  }
  const pairing = new Pairing(report)
  messages.forEach((message: unknown, i) => {
    const path = `$.messages[${i}]`
    if (!isRecord(message)) {
      report.add("message-shape", path, "a message must be an object")
      return
    }
    checkMessage(message, path, thinking, pairing, report)
  })
  pairing.close()
  const role: unknown = isRecord(messages.at(-1)) ? messages.at(-1).role : undefined
  if (role !== "user" && role !== "tool") {
    report.add("last-message", `$.messages[${messages.length - 1}]`, "the last message must be from user or tool")
  }
}

const checkMessage = (message: Raw, path: string, thinking: boolean, pairing: Pairing, report: Report): void => {
  switch (message.role) {
    case "system":
    case "user":
      pairing.close()
      return Content.check(message.content, path, message.role, report)
    case "tool":
      Content.check(message.content, path, "tool", report)
      return pairing.result(message.tool_call_id, path)
    case "assistant":
      pairing.close()
      return checkAssistant(message, path, thinking, pairing, report)
    default:
      report.add("role-unknown", `${path}.role`, "role must be one of system, user, assistant, tool")
  }
}

const checkAssistant = (message: Raw, path: string, thinking: boolean, pairing: Pairing, report: Report): void => {
  Content.check(message.content, path, "assistant", report)
  const calls = message.tool_calls
  const reasoning = message.reasoning_content
  if (reasoning !== undefined && typeof reasoning !== "string") {
    report.add("reasoning-shape", `${path}.reasoning_content`, "reasoning_content must be a string")
  }
  if (calls === undefined) {
    if (message.content === undefined || message.content === null || message.content === "") {
      report.add("assistant-empty", path, "an assistant message must have content or tool_calls")
    }
    return
  }
  if (!Array.isArray(calls) || calls.length === 0) {
    report.add("tool-calls", `${path}.tool_calls`, "tool_calls must be a non-empty array, or be omitted")
    return
  }
  if (thinking && reasoning === undefined) {
    report.add(
      "reasoning-missing",
      path,
      "The `reasoning_content` in the thinking mode must be passed back to the API."
    )
  }
  calls.forEach((call: unknown, i) => checkCall(call, `${path}.tool_calls[${i}]`, pairing, report))
}

const checkCall = (call: unknown, path: string, pairing: Pairing, report: Report): void => {
  if (!isRecord(call) || call.type !== "function" || !isRecord(call.function)) {
    report.add("tool-calls", path, 'a tool call must be {"id":…,"type":"function","function":{…}}')
    return
  }
  pairing.call(call.id, path)
  const { name, arguments: args } = call.function
  if (typeof name !== "string" || !functionName.test(name)) {
    report.add("tool-call-name", `${path}.function.name`, `a function name must match ${functionName.source}`)
  }
  if (typeof args !== "string" || !isJsonObject(args)) {
    report.add("tool-call-arguments", `${path}.function.arguments`, "arguments must be the text of a JSON object")
  }
}

/** Holds the calls of the latest assistant message until each is answered. */
class Pairing {
  readonly #report: Report
  readonly #seen = new Set<string>()
  readonly #answered = new Set<string>()
  readonly #open = new Map<string, string>()

  constructor(report: Report) {
    this.#report = report
  }

  call(id: unknown, path: string): void {
    if (typeof id !== "string" || id === "") {
      this.#report.add("tool-call-id", `${path}.id`, "a tool call needs a non-empty id")
      return
    }
    if (this.#seen.has(id)) {
      this.#report.add("tool-call-id-duplicate", `${path}.id`, `the tool call id "${id}" is used twice`)
      return
    }
    this.#seen.add(id)
    this.#open.set(id, path)
  }

  result(id: unknown, path: string): void {
    const at = `${path}.tool_call_id`
    if (typeof id !== "string" || id === "") {
      this.#report.add("tool-result-unknown", at, "a tool message needs the id of the call it answers")
    } else if (this.#open.delete(id)) {
      this.#answered.add(id)
    } else if (this.#answered.has(id)) {
      this.#report.add("tool-result-duplicate", at, `the tool call "${id}" is answered twice`)
    } else if (this.#seen.has(id)) {
      const message = `the result of "${id}" must directly follow the message that calls it`
      this.#report.add("tool-result-order", at, message)
    } else {
      this.#report.add("tool-result-unknown", at, `no earlier message calls "${id}"`)
    }
  }

  close(): void {
    for (const [id, path] of this.#open) {
      const message = `the tool call "${id}" must be answered by a tool message before any other message`
      this.#report.add("tool-call-unanswered", path, message)
    }
    this.#open.clear()
  }
}
