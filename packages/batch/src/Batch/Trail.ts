/**
 * What the log of a session says of a task: whether it came to the agent, how that ended, and what it took.
 */
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import { isRun } from "@dsh/protocol/ChunkRun"
import { textOf } from "@dsh/protocol/Block"
import * as Prices from "@dsh/protocol/Prices"
import type { TurnEndReason } from "@dsh/protocol/SessionEvent"
import * as UsageTally from "@dsh/protocol/UsageTally"
import type { Session } from "@dsh/session/Session"
import type { BatchResult } from "../BatchResult.ts"
import type { Purse } from "./Purse.ts"

export class Trail {
  /** The last text that is not empty. */
  answer = ""
  readonly #counter: UsageTally.Counter
  #cost: Prices.Cost | undefined

  constructor(purse: Purse) {
    this.#counter = new UsageTally.Counter((request) => {
      const cost = purse.pay(request)
      if (cost !== undefined) this.#cost = Prices.add(this.#cost ?? Prices.none, cost)
    })
  }

  take(entry: LogEntry): void {
    if (isRun(entry)) return
    this.#counter.take(entry)
    if (entry.type !== "assistant/message") return
    const text = textOf(entry.data.message.content)
    if (text.trim() !== "") this.answer = text
  }

  /** All of it, so far. */
  report(): Pick<BatchResult, "finalResponse" | "usage" | "cost"> {
    this.#counter.end()
    const cost = this.#cost
    return {
      finalResponse: this.answer,
      usage: this.#counter.tally,
      ...(cost !== undefined && { cost: { amounts: Object.fromEntries(cost.amounts), unknown: cost.unknown } })
    }
  }
}

/** How the turn ended that the message is in; nothing when it came into none. */
export const endOf = (session: Session, messageId: string, from: number): TurnEndReason | undefined => {
  let isIn = false
  for (const event of session.range(from)) {
    if (event.type === "user/message" && event.data.id === messageId) isIn = true
    if (isIn && event.type === "turn/end") return event.data.reason
  }
  return undefined
}
