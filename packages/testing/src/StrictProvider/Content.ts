/**
 * The `content` of one message.
 */
import { isRecord } from "../ChatRequest.ts"
import type { Report } from "./Report.ts"

type Role = "system" | "user" | "assistant" | "tool"

/** Reports content that is absent, blank where that is refused, or neither text nor parts the role may carry. */
export const check = (content: unknown, message: string, role: Role, report: Report): void => {
  const path = `${message}.content`
  if (content === undefined || content === null) {
    report.add("content-missing", path, `content of a ${role} message must not be null or missing`)
  } else if (typeof content === "string") {
    if (role === "tool" && content.trim() === "") report.add("content-blank", path, "a tool result must not be blank")
  } else if (!Array.isArray(content) || role === "system") {
    report.add("content-shape", path, `content of a ${role} message must be a string`)
  } else if (content.length === 0) {
    report.add("content-shape", path, "an array of content parts must not be empty")
  } else {
    content.forEach((part: unknown, i) => {
      if (!isPart(part, role))
        report.add("content-shape", `${path}[${i}]`, `not a part that a ${role} message may carry`)
    })
  }
}

const isPart = (part: unknown, role: Role): boolean => {
  if (!isRecord(part)) return false
  if (part.type === "text") return typeof part.text === "string"
  if (role !== "user") return false
  if (part.type === "file") return typeof part.file_id === "string" || isRecord(part.file)
  return part.type === "image_url" && isRecord(part.image_url) && typeof part.image_url.url === "string"
}
