/**
 * What a loop has to know of turns that are already in the log: where the numbering stands, which call ids are taken, how a turn
 * ended.
 */
import type { TurnOutcome } from "@dsh/agent/Agent"
import { AgentError } from "@dsh/agent/AgentError"
import type { MessageId } from "@dsh/protocol/Ids"
import * as Inbox from "@dsh/protocol/Inbox"
import type { Session } from "@dsh/session/Session"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import type { AgentState } from "./AgentState.ts"

/** The number of the last turn of the log, inherited history included; 0 when there is none. */
export const lastTurn = (session: Session): number => {
  for (let seq = session.length - 1; seq >= 0; seq--) {
    const event = session.at(seq)
    if (event?.type === "turn/start") return event.data.turn
  }
  return 0
}

/** Every tool call id of the log. */
export const callIds = (session: Session): Set<string> => {
  const ids = new Set<string>()
  for (const { data, type } of session.range(0)) {
    if (type !== "assistant/message") continue
    for (const block of data.message.content) if (block.type === "tool-call") ids.add(block.id)
  }
  return ids
}

/** The outcome of the turn that takes up a message; see `Agent.awaitTurn`. */
export const awaitTurn = (state: AgentState, id: MessageId): Effect.Effect<TurnOutcome, AgentError> =>
  Effect.suspend(() => {
    const known = state.unlogged.get(id) ?? fromLog(state.session, id)
    if (known !== undefined) return Effect.succeed(known)
    if (state.refusal !== undefined && state.activity === undefined) return Effect.fail(state.refusal)
    if (!state.claimed.has(id) && Inbox.find(state.session.inbox, id) === undefined) {
      return Effect.fail(
        new AgentError({
          code: "MESSAGE_DROPPED",
          message: `message ${id} is not pending: it was withdrawn or never sent`
        })
      )
    }
    let waiter = state.waiters.get(id)
    if (waiter === undefined) {
      waiter = Deferred.unsafeMake<TurnOutcome, AgentError>(FiberId.none)
      state.waiters.set(id, waiter)
    }
    return Deferred.await(waiter)
  })

const fromLog = (session: Session, id: MessageId): TurnOutcome | undefined => {
  let end: TurnOutcome | undefined
  for (let seq = session.length - 1; seq >= 0; seq--) {
    const event = session.at(seq)
    if (event?.type === "turn/end") end = { turn: event.data.turn, reason: event.data.reason, entered: true }
    if (event?.type === "turn/start") end = undefined
    if (event?.type === "user/message" && event.data.id === id) return end
  }
  return undefined
}
