/**
 * The content blocks of one message of the Messages API, each by itself.
 */
import { isRecord } from "../../ChatRequest.ts"
import { signatureOf } from "../../Signature.ts"
import { functionName } from "../Report.ts"
import type { Report } from "../Report.ts"

type Raw = Readonly<Record<string, unknown>>

/** What the provider accepts as the id of a call. */
const callId = /^[a-zA-Z0-9_-]+$/

const allowed: Readonly<Record<"user" | "assistant", ReadonlySet<unknown>>> = {
  user: new Set(["text", "image", "document", "tool_result"]),
  assistant: new Set(["text", "thinking", "redacted_thinking", "tool_use"])
}

/** The blocks with their paths; a string is one text block. */
export const read = (
  content: unknown,
  role: "user" | "assistant",
  path: string,
  report: Report
): ReadonlyArray<readonly [Raw, string]> => {
  if (typeof content === "string") {
    checkText(content, path, report)
    return [[{ type: "text", text: content }, path]]
  }
  if (!Array.isArray(content)) {
    report.add("content-missing", path, "content must be a string or an array of blocks")
    return []
  }
  if (content.length === 0) report.add("content-missing", path, "all messages must have non-empty content")
  return content.flatMap((block: unknown, i) => {
    const at = `${path}[${i}]`
    if (!isRecord(block) || !allowed[role].has(block.type)) {
      report.add("content-shape", at, `not a block that a message of the role ${role} may carry`)
      return []
    }
    checkBlock(block, at, report)
    return [[block, at] as const]
  })
}

const checkBlock = (block: Raw, path: string, report: Report): void => {
  switch (block.type) {
    case "text":
      return checkText(block.text, `${path}.text`, report)
    case "thinking":
      return checkThought(block, path, report)
    case "redacted_thinking":
      if (typeof block.data !== "string") report.add("reasoning-shape", path, "a redacted thought needs its data")
      return
    case "tool_use":
      return checkCall(block, path, report)
    case "tool_result":
      return checkResult(block, path, report)
    default:
      if (!isRecord(block.source)) report.add("content-shape", path, `a block of type ${block.type} needs a source`)
  }
}

const checkText = (text: unknown, path: string, report: Report): void => {
  if (typeof text !== "string") report.add("content-shape", path, "text must be a string")
  else if (text.trim() === "") {
    report.add("content-blank", path, "text content blocks must contain non-whitespace text")
  }
}

const checkThought = (block: Raw, path: string, report: Report): void => {
  if (typeof block.thinking !== "string") report.add("reasoning-shape", path, "thinking must be a string")
  else if (block.signature !== signatureOf(block.thinking)) {
    report.add("reasoning-signature", `${path}.signature`, "Invalid `signature` in `thinking` block")
  }
}

const checkCall = (block: Raw, path: string, report: Report): void => {
  if (typeof block.id !== "string" || !callId.test(block.id)) {
    report.add("tool-call-id", `${path}.id`, `the id of a call must match ${callId.source}`)
  }
  if (typeof block.name !== "string" || !functionName.test(block.name)) {
    report.add("tool-call-name", `${path}.name`, `the name of a tool must match ${functionName.source}`)
  }
  if (!isRecord(block.input)) report.add("tool-call-arguments", `${path}.input`, "input must be an object")
}

const checkResult = (block: Raw, path: string, report: Report): void => {
  const { content = "" } = block
  const at = `${path}.content`
  if (block.is_error !== undefined && typeof block.is_error !== "boolean") {
    report.add("content-shape", `${path}.is_error`, "is_error must be a boolean")
  }
  if (Array.isArray(content)) {
    content.forEach((part: unknown, i) => {
      if (!isRecord(part) || (part.type !== "text" && part.type !== "image"))
        report.add("content-shape", `${at}[${i}]`, "a tool result carries text and images")
      else if (part.type === "text") checkText(part.text, `${at}[${i}].text`, report)
    })
  } else if (typeof content !== "string") report.add("content-shape", at, "content must be a string or an array")
  if (block.is_error === true && (content === "" || (Array.isArray(content) && content.length === 0))) {
    report.add("content-blank", at, "content cannot be empty if `is_error` is true")
  }
}
