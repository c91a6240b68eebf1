/**
 * The strictest provider we know of, as a pure function: what it would answer 400 to.
 *
 * Real endpoints differ in what they forgive. Every request of every test goes through the union of their refusals, so that a
 * session log that replays here replays everywhere.
 */
import { isRecord } from "./ChatRequest.ts"
import type { Dialect } from "./ChatRequest.ts"
import * as Conversation from "./StrictProvider/Conversation.ts"
import * as Messages from "./StrictProvider/Messages.ts"
import * as Parameters from "./StrictProvider/Parameters.ts"
import { Report } from "./StrictProvider/Report.ts"
import type { Violation } from "./StrictProvider/Report.ts"
import * as Responses from "./StrictProvider/Responses.ts"
import * as Tools from "./StrictProvider/Tools.ts"
import * as Unicode from "./StrictProvider/Unicode.ts"

export type { Rule, Violation } from "./StrictProvider/Report.ts"

/** Every violation of a parsed request body, in document order per rule group; empty when the request is acceptable. */
export const validate = (body: unknown, dialect: Dialect = "chat-completions"): ReadonlyArray<Violation> => {
  const report = new Report()
  if (!isRecord(body)) {
    report.add("body-not-an-object", "$", "the body must be a JSON object")
    return report.violations
  }
  checks[dialect](body, report)
  Unicode.check(body, report)
  return report.violations
}

const checks: Readonly<Record<Dialect, (body: Readonly<Record<string, unknown>>, report: Report) => void>> = {
  "chat-completions": (body, report) => {
    Parameters.check(body, report)
    Tools.check(body.tools, report)
    Conversation.check(body.messages, Parameters.isThinking(body), report)
  },
  responses: Responses.check,
  messages: Messages.check
}

/** The same for body text or bytes; text that is not JSON is one violation. */
export const validateText = (body: string | Uint8Array, dialect?: Dialect): ReadonlyArray<Violation> => {
  let parsed: unknown
  try {
    parsed = JSON.parse(typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true }).decode(body))
  } catch (error) {
    return [{ rule: "body-not-json", path: "$", message: `the body is not JSON in UTF-8: ${String(error)}` }]
  }
  return validate(parsed, dialect)
}
