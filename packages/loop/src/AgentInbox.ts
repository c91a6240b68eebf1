/**
 * Changes of an agent's pending input. The event comes first, then the observers; the session folds the lists.
 *
 * Claiming is in two phases. A claim only reserves: the message stays pending until its `user/message` event takes it over, or a
 * splice drops it. Whatever fails in between leaves it where it was.
 */
import { AgentError } from "@dsh/agent/AgentError"
import { InboxClaimed, InboxDiscarded, InboxInserted } from "@dsh/agent/AgentHooks"
import type { MessageId } from "@dsh/protocol/Ids"
import * as Inbox from "@dsh/protocol/Inbox"
import type { UserMessage } from "@dsh/protocol/Message"
import type { InboxSplice, InboxTarget } from "@dsh/protocol/SessionEvent"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { AgentState } from "./AgentState.ts"

export type InboxServices = InboxInserted | InboxClaimed | InboxDiscarded

/** Accepts a message at the end of a list. */
export const insert = Effect.fnUntraced(function* (state: AgentState, message: UserMessage, target: InboxTarget) {
  const { agent, session } = state
  yield* session.append("agent/inbox/spliced", { target, start: session.inbox[target].length, inserted: [message] })
  yield* (yield* InboxInserted).emit({ agent, message })
})

/** Takes a pending message out, unless a turn has claimed it. */
export const withdraw = Effect.fnUntraced(function* (state: AgentState, id: MessageId) {
  if (state.claimed.has(id) || Inbox.find(state.session.inbox, id) === undefined) {
    return yield* new AgentError({
      code: "MESSAGE_NOT_PENDING",
      message: `message ${id} is not pending any more; it was claimed by a turn or withdrawn before`
    })
  }
  yield* discard(state, id, "canceled")
})

/** Takes every pending message out, next-step first. */
export const clear = Effect.fnUntraced(function* (state: AgentState) {
  const { "next-step": joining, "next-turn": prompts } = state.session.inbox
  for (const { id } of [...joining, ...prompts]) yield* discard(state, id, "canceled")
})

/** Takes one message out and tells those who wait for it. A message that is not pending is left alone. */
export const discard = Effect.fnUntraced(function* (
  state: AgentState,
  id: MessageId,
  outcome: NonNullable<InboxSplice["outcome"]>
) {
  const { agent, session } = state
  const found = Inbox.find(session.inbox, id)
  if (found === undefined) return
  const message = session.inbox[found.target][found.index]!
  yield* session.append("agent/inbox/spliced", {
    target: found.target,
    start: found.index,
    removedCount: 1,
    inserted: [],
    outcome
  })
  yield* (yield* InboxDiscarded).emit({ agent, message })
  // Dropped by the turn that claimed it: its end is the answer. Otherwise nobody will ever answer.
  if (outcome === "canceled") yield* release(state, id)
})

const release = (state: AgentState, id: MessageId) =>
  Effect.suspend(() => {
    const waiter = state.waiters.get(id)
    state.waiters.delete(id)
    return waiter === undefined
      ? Effect.void
      : Deferred.fail(
          waiter,
          new AgentError({ code: "MESSAGE_DROPPED", message: `message ${id} was withdrawn before a turn claimed it` })
        )
  })

/** Tells everybody who still waits for a turn that there will be none. */
export const releaseAll = ({ waiters }: AgentState, reason: AgentError): Effect.Effect<void> =>
  Effect.suspend(() => {
    const all = [...waiters.values()]
    waiters.clear()
    return Effect.forEach(all, (waiter) => Deferred.fail(waiter, reason), { discard: true })
  })

/** Phase one: everything for the next step, and the first prompt when a turn opens. Next-step input comes first. */
export const claim = Effect.fnUntraced(function* (state: AgentState, target: InboxTarget, turn: number) {
  const { agent } = state
  const messages = reserve(state, target, turn)
  const point = yield* InboxClaimed
  for (const message of messages) yield* point.emit({ agent, message, turn })
  return messages
})

/** The part of a claim that nobody hears of. Done again, it adds what has arrived since. */
export const reserve = (state: AgentState, target: InboxTarget, turn: number): ReadonlyArray<UserMessage> => {
  const { "next-step": joining, "next-turn": prompts } = state.session.inbox
  const messages = target === "next-turn" ? [...joining, ...prompts.slice(0, 1)] : joining
  for (const { id } of messages) {
    state.claimed.set(id, turn)
    state.unlogged.delete(id)
  }
  return messages
}
