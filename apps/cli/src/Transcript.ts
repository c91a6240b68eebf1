/**
 * A session as text for people: the append-only history, replaced messages included, long texts cut.
 */
import * as Text from "@dsh/kernel/Text"
import { textOf } from "@dsh/protocol/Block"
import type { ContentBlock } from "@dsh/protocol/Block"
import type { SessionEvent, TurnEndReason } from "@dsh/protocol/SessionEvent"
import * as UsageTally from "@dsh/protocol/UsageTally"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as UsageLine from "./UsageLine.ts"

const longest = 2000

export const render = (header: SessionHeader, events: Iterable<SessionEvent>): string => {
  const lines = [`session ${header.id}`, `created ${new Date(header.createdAt).toISOString()} in ${header.cwd ?? "-"}`]
  let turn = new UsageTally.Counter()
  for (const event of events) {
    if (event.type === "turn/start") turn = new UsageTally.Counter()
    turn.take(event)
    lines.push(...describe(event))
    if (event.type === "turn/end" && turn.tally.requests > 0) lines.push(`  used ${UsageLine.text(turn.tally)}`)
  }
  return lines.join("\n")
}

/** The lines of one event; none for what only machines want to know. */
const describe = (event: SessionEvent): ReadonlyArray<string> => {
  switch (event.type) {
    case "turn/start":
      return ["", `turn ${event.data.turn}`]
    case "turn/end":
      return [`  ended: ${reason(event.data.reason)}`]
    case "user/message":
      return block(event.data.source.kind === "user" ? "user" : "context", textOf(event.data.content))
    case "assistant/message":
      return [
        ...event.data.message.content.flatMap(said),
        ...(event.data.interrupted === true ? ["  (interrupted)"] : [])
      ]
    case "tool/call":
      return block(`→ ${event.data.name}`, event.data.arguments)
    case "tool/result":
      return block(
        event.data.error === undefined ? "←" : `← ${event.data.error.code}`,
        textOf(event.data.message.content[0].content)
      )
    case "session/lost":
      return [`  (event ${event.seq} is lost)`]
    default:
      return []
  }
}

const said = (content: ContentBlock): ReadonlyArray<string> => {
  if (content.type === "text") return block("assistant", content.text)
  if (content.type === "reasoning") return block("reasoning", content.text)
  return []
}

const block = (label: string, text: string): ReadonlyArray<string> => {
  const [first = "", ...rest] = Text.ellipsis(text.trimEnd(), longest).split("\n")
  return [`  ${label}: ${first}`, ...rest.map((line) => `    ${line}`)]
}

const reason = (end: TurnEndReason): string => {
  if (end.kind === "error") return `error ${end.error.code}: ${end.error.message}`
  if (end.kind === "aborted") return `aborted (${end.reason.kind})`
  return end.kind
}
