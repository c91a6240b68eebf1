/**
 * Structural checks of the data of every core event.
 */
import type { SessionEvents } from "../SessionEvent.ts"
import { chunk, failure, tokenUsage } from "./Chunks.ts"
import { assistantMessage, toolResultMessage, userMessage } from "./Content.ts"
import { count, name, nested, objects, oneOf, optional, text, yes } from "./Fields.ts"
import type { Fields, Problem } from "./Fields.ts"
import { requestContext, requestHeader, requestSent } from "./Requests.ts"

const turn = (value: Fields): Problem => count(value, "turn")

const step = (value: Fields): Problem => count(value, "turn") ?? count(value, "step")

const cancelCause = (value: Fields): Problem =>
  name(value, "kind") ?? (value["kind"] === "hook" ? text(value, "reason") : undefined)

const turnEndReason = (value: Fields): Problem => {
  switch (value["kind"]) {
    case "completed":
    case "max-tokens":
    case "blocked":
    case "interrupted":
      return undefined
    case "aborted":
      return nested(value, "reason", cancelCause)
    case "error":
      return nested(value, "error", failure)
    default:
      return "kind is not a reason to end a turn"
  }
}

const toolError = (value: Fields): Problem => text(value, "name") ?? text(value, "code")

const targets = new Set(["next-turn", "next-step"])
const outcomes = new Set(["canceled", "dropped"])

type CoreEvents = Pick<
  SessionEvents,
  | "turn/start"
  | "turn/end"
  | "step/start"
  | "step/end"
  | "user/message"
  | "assistant/chunk"
  | "assistant/message"
  | "tool/call"
  | "tool/result"
  | "request/header"
  | "request/context"
  | "request/sent"
  | "session/end-seed"
  | "session/lost"
  | "session/rewound"
  | "agent/inbox/spliced"
>

const checks: { readonly [Type in keyof CoreEvents]: (data: Fields) => Problem } = {
  "turn/start": turn,
  "turn/end": (data) => turn(data) ?? nested(data, "reason", turnEndReason),
  "step/start": step,
  "step/end": step,
  "user/message": userMessage,
  "assistant/chunk": (data) => step(data) ?? nested(data, "chunk", chunk),
  "assistant/message": (data) =>
    step(data) ??
    nested(data, "message", assistantMessage) ??
    optional(data, "usage", (fields, key) => nested(fields, key, tokenUsage)) ??
    optional(data, "interrupted", yes),
  "tool/call": (data) => step(data) ?? name(data, "callId") ?? text(data, "name") ?? text(data, "arguments"),
  "tool/result": (data) =>
    step(data) ??
    nested(data, "message", toolResultMessage) ??
    optional(data, "error", (fields, key) => nested(fields, key, toolError)),
  "request/header": requestHeader,
  "request/context": requestContext,
  "request/sent": requestSent,
  "session/end-seed": () => undefined,
  "session/lost": () => undefined,
  "session/rewound": (data) => turn(data) ?? count(data, "events"),
  "agent/inbox/spliced": (data) =>
    oneOf(data, "target", targets) ??
    count(data, "start") ??
    optional(data, "removedCount", count) ??
    objects(data, "inserted", userMessage) ??
    optional(data, "outcome", (fields, key) => oneOf(fields, key, outcomes))
}

const byType: ReadonlyMap<string, (data: Fields) => Problem> = new Map(Object.entries(checks))

/** The check of a core type; none for the types of extensions. */
export const ofType = (type: string): ((data: Fields) => Problem) | undefined => byType.get(type)
