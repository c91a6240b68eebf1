/**
 * What a refusal looks like, and the list it is collected in.
 */
import { isRecord } from "../ChatRequest.ts"

/** Stable names of the rules: tests assert on them. */
export type Rule =
  | "body-not-json"
  | "body-not-an-object"
  | "parameter"
  | "null-parameter"
  | "tools"
  | "tool-name"
  | "tool-name-duplicate"
  | "tool-schema"
  | "tool-choice"
  | "messages-empty"
  | "first-message"
  | "message-shape"
  | "role-unknown"
  | "content-missing"
  | "content-shape"
  | "content-blank"
  | "assistant-empty"
  | "reasoning-missing"
  | "reasoning-shape"
  | "reasoning-signature"
  | "item-id"
  | "item-id-duplicate"
  | "tool-calls"
  | "tool-call-id"
  | "tool-call-id-duplicate"
  | "tool-call-name"
  | "tool-call-arguments"
  | "tool-call-unanswered"
  | "tool-result-unknown"
  | "tool-result-duplicate"
  | "tool-result-order"
  | "last-message"
  | "lone-surrogate"

export interface Violation {
  readonly rule: Rule
  /** JSON path of the offending value, `$.messages[3].content`. */
  readonly path: string
  /** One sentence, as the provider would put it. */
  readonly message: string
}

/** Collects violations while the checks walk the body. */
export class Report {
  readonly violations: Array<Violation> = []
  add(rule: Rule, path: string, message: string): void {
    this.violations.push({ rule, path, message })
  }
}

/** What providers accept as the name of a function. */
export const functionName = /^[a-zA-Z0-9_-]{1,64}$/

/** Whether the arguments of a call are what every provider takes. */
export const isJsonObject = (text: string): boolean => {
  try {
    return isRecord(JSON.parse(text))
  } catch {
    return false
  }
}
