/**
 * The input items of a request to the Responses API.
 */
import { isRecord } from "../../ChatRequest.ts"
import { functionName, isJsonObject } from "../Report.ts"
import type { Report } from "../Report.ts"

type Raw = Readonly<Record<string, unknown>>

/** The parts that a message of a role may carry. */
const parts: Readonly<Record<string, ReadonlyArray<string>>> = {
  user: ["input_text", "input_image", "input_file"],
  system: ["input_text"],
  developer: ["input_text"],
  assistant: ["output_text", "refusal"]
}

/** What the id of an item begins with. */
const prefixes: Readonly<Record<string, string>> = { message: "msg", function_call: "fc", reasoning: "rs" }

/** `forgotten` says that the provider was told not to store what it answers. */
export const check = (input: unknown, forgotten: boolean, report: Report): void => {
  if (typeof input === "string" && input !== "") return
  if (!Array.isArray(input) || input.length === 0) {
    report.add("messages-empty", "$.input", "input must be a non-empty string or a non-empty array of items")
    return
  }
  const items = input as ReadonlyArray<unknown>
  const ids = new Set<string>()
  const calls = new Calls(report)
  items.forEach((item, i) => {
    const path = `$.input[${i}]`
    if (!isRecord(item)) return report.add("message-shape", path, "an item must be an object")
    checkId(item, path, ids, report)
    switch (typeOf(item)) {
      case "message":
        return checkMessage(item, path, report)
      case "function_call":
        return calls.call(item, path)
      case "function_call_output":
        return calls.output(item, path)
      case "reasoning":
        return checkReasoning(item, path, forgotten, items[i + 1], report)
      default:
        report.add("message-shape", `${path}.type`, `unknown item type ${JSON.stringify(item.type)}`)
    }
  })
  calls.close()
}

const typeOf = (item: Raw): unknown => item.type ?? (item.role === undefined ? undefined : "message")

const checkId = (item: Raw, path: string, ids: Set<string>, report: Report): void => {
  const prefix = prefixes[String(typeOf(item))]
  if (item.id === undefined || item.id === null || prefix === undefined) return
  if (typeof item.id !== "string" || !item.id.startsWith(prefix)) {
    report.add("item-id", `${path}.id`, `Expected an ID that begins with '${prefix}'`)
  } else if (ids.has(item.id)) {
    report.add("item-id-duplicate", `${path}.id`, `Duplicate item found with id ${item.id}`)
  } else ids.add(item.id)
}

const checkMessage = (item: Raw, path: string, report: Report): void => {
  const allowed = typeof item.role === "string" ? parts[item.role] : undefined
  if (allowed === undefined) {
    return report.add("role-unknown", `${path}.role`, "role must be one of user, assistant, system, developer")
  }
  const at = `${path}.content`
  const { content } = item
  if (typeof content === "string") return
  if (content === undefined || content === null) return report.add("content-missing", at, "content must not be missing")
  if (!Array.isArray(content) || content.length === 0) {
    return report.add("content-shape", at, "content must be a string or a non-empty array of parts")
  }
  content.forEach((part: unknown, i) => {
    if (!isRecord(part) || !allowed.includes(String(part.type)) || !isFilled(part))
      report.add("content-shape", `${at}[${i}]`, `not a part that a message of the role ${item.role} may carry`)
  })
}

const isFilled = (part: Raw): boolean => {
  switch (part.type) {
    case "input_text":
    case "output_text":
      return typeof part.text === "string"
    case "input_image":
      return typeof part.image_url === "string" || typeof part.file_id === "string"
    default:
      return true
  }
}

const checkReasoning = (item: Raw, path: string, forgotten: boolean, next: unknown, report: Report): void => {
  if (typeof item.id !== "string") report.add("item-id", `${path}.id`, "a reasoning item needs its id")
  if (!Array.isArray(item.summary)) {
    report.add("reasoning-shape", `${path}.summary`, "summary must be an array")
  }
  if (forgotten && typeof item.encrypted_content !== "string") {
    const message = `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false.`
    report.add("reasoning-missing", path, message)
  }
  const follows =
    isRecord(next) && (typeOf(next) === "function_call" || typeOf(next) === "reasoning" || next.role === "assistant")
  if (!follows) {
    const message = `Item '${item.id}' of type 'reasoning' was provided without its required following item.`
    report.add("reasoning-shape", path, message)
  }
}

/** Every call has one output, after it, and every output a call. */
class Calls {
  readonly #report: Report
  readonly #open = new Map<string, string>()
  readonly #answered = new Set<string>()

  constructor(report: Report) {
    this.#report = report
  }

  call(item: Raw, path: string): void {
    const { arguments: args, call_id: id, name } = item
    if (typeof name !== "string" || !functionName.test(name)) {
      this.#report.add("tool-call-name", `${path}.name`, `a function name must match ${functionName.source}`)
    }
    if (typeof args !== "string" || !isJsonObject(args)) {
      this.#report.add("tool-call-arguments", `${path}.arguments`, "arguments must be the text of a JSON object")
    }
    if (typeof id !== "string" || id === "" || id.length > 64) {
      this.#report.add("tool-call-id", `${path}.call_id`, "a call_id has from 1 to 64 characters")
    } else if (this.#open.has(id) || this.#answered.has(id)) {
      this.#report.add("tool-call-id-duplicate", `${path}.call_id`, `the call_id "${id}" is used twice`)
    } else this.#open.set(id, path)
  }

  output(item: Raw, path: string): void {
    const { call_id: id, output } = item
    if (typeof output !== "string" && !Array.isArray(output)) {
      this.#report.add("content-missing", `${path}.output`, "output must be a string or an array of parts")
    }
    if (typeof id === "string" && this.#open.delete(id)) this.#answered.add(id)
    else if (typeof id === "string" && this.#answered.has(id)) {
      this.#report.add("tool-result-duplicate", `${path}.call_id`, `the call "${id}" is answered twice`)
    } else {
      const message = `No tool call found for function call output with call_id ${String(id)}.`
      this.#report.add("tool-result-unknown", `${path}.call_id`, message)
    }
  }

  close(): void {
    for (const [id, path] of this.#open) {
      this.#report.add("tool-call-unanswered", path, `No tool output found for function call ${id}.`)
    }
  }
}
