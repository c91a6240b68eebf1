/**
 * A session as text for people: the append-only history, replaced messages included, long texts cut.
 */
import * as Text from "@dsh/kernel/Text"
import { textOf } from "@dsh/protocol/Block"
import type { ContentBlock } from "@dsh/protocol/Block"
import * as ContextSize from "@dsh/protocol/ContextSize"
import * as Conversation from "@dsh/protocol/Conversation"
import type { PriceTable } from "@dsh/protocol/Prices"
import type { SessionEvent, TurnEndReason } from "@dsh/protocol/SessionEvent"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as UsageTally from "@dsh/protocol/UsageTally"
import * as Bill from "./Bill.ts"
import * as ModelSwitch from "./ModelSwitch.ts"
import * as UsageLine from "./UsageLine.ts"

const longest = 2000

/** What a transcript says of costs and sub-agents, beyond what its own log tells. */
export interface Accounts {
  readonly prices: PriceTable
  /** The logs of the agents below this one. */
  readonly subAgents: ReadonlyArray<{ readonly header: SessionHeader; readonly events: Iterable<SessionEvent> }>
}

export const render = (
  header: SessionHeader,
  events: Iterable<SessionEvent>,
  { prices, subAgents }: Accounts
): string => {
  const lines = [`session ${header.id}`, `created ${new Date(header.createdAt).toISOString()} in ${header.cwd ?? "-"}`]
  const conversation = Conversation.empty()
  let turn = Bill.none
  let session = Bill.none
  const counter = new UsageTally.Counter((request) => {
    const bill = Bill.of(prices, request)
    turn = Bill.add(turn, bill)
    if (isOwn(request, header)) session = Bill.add(session, bill)
  })
  for (const event of events) {
    if (event.type === "turn/start") turn = Bill.none
    conversation.apply(event)
    counter.take(event)
    lines.push(...describe(event))
    if (event.type !== "turn/end") continue
    counter.end()
    if (turn.tally.requests > 0) lines.push(`  used ${UsageLine.text(turn)}`)
  }
  counter.end()
  return [...lines, ...summary(session, ContextSize.measure(conversation), prices, subAgents)].join("\n")
}

const summary = (
  session: Bill.Bill,
  size: ContextSize.ContextSize,
  prices: PriceTable,
  subAgents: Accounts["subAgents"]
): ReadonlyArray<string> => {
  const lines = [`in all: ${UsageLine.text(session)}`]
  if (subAgents.length > 0) {
    const tree = subAgents.map((one) => billOf(one, prices)).reduce(Bill.add, session)
    const whom = subAgents.length === 1 ? "its sub-agent" : `its ${subAgents.length} sub-agents`
    lines.push(`with ${whom}: ${UsageLine.text(tree)}`)
  }
  const context = UsageLine.context(size)
  return ["", ...lines, ...(context === undefined ? [] : [context])]
}

/** What was copied from another session has been paid for there. */
const isOwn = ({ seq }: UsageTally.Billed, { seedLength = 0 }: SessionHeader): boolean => seq >= seedLength

const billOf = ({ events, header }: Accounts["subAgents"][number], prices: PriceTable): Bill.Bill => {
  let bill = Bill.none
  const counter = new UsageTally.Counter((request) => {
    if (isOwn(request, header)) bill = Bill.add(bill, Bill.of(prices, request))
  })
  for (const event of events) counter.take(event)
  counter.end()
  return bill
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
    case "llm/fallback":
      return [`  (${ModelSwitch.text(event.data)})`]
    case "session/rewound":
      return ["", `(rewound to ${event.data.turn === 0 ? "the beginning" : `the end of turn ${event.data.turn}`})`]
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
