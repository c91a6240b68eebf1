/**
 * Changes of an agent's pending input. The event comes first, then the observers; the session folds the lists.
 *
 * Claiming is in two phases. A claim only reserves: the message stays pending until its `user/message` event takes it over, or a
 * splice drops it. Whatever fails in between leaves it where it was.
 */
import type { SendOptions } from "@dsh/agent/Agent"
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

/** Accepts a message at one end of a list. */
export const insert = Effect.fnUntraced(function* (
  state: AgentState,
  message: UserMessage,
  target: InboxTarget,
  at: SendOptions["at"] = "end"
) {
  const { agent, session } = state
  yield* atOnce(
    Effect.suspend(() => {
      const start = at === "front" ? 0 : session.inbox[target].length
      return session.append("agent/inbox/spliced", { target, start, inserted: [message] })
    })
  )
  yield* (yield* InboxInserted).emit({ agent, message })
})

/** Takes a pending message out, unless a turn has claimed it. */
export const withdraw = Effect.fnUntraced(function* (state: AgentState, id: MessageId) {
  const { agent } = state
  const message = yield* atOnce(Effect.flatMap(unclaimed(state, id), (place) => take(state, place, "canceled")))
  yield* (yield* InboxDiscarded).emit({ agent, message })
  yield* release(state, id)
})

/** Puts `message` where a pending one stands, unless a turn has claimed that one. */
export const replace = Effect.fnUntraced(function* (state: AgentState, id: MessageId, message: UserMessage) {
  const { agent } = state
  const old = yield* atOnce(Effect.flatMap(unclaimed(state, id), (place) => take(state, place, "canceled", message)))
  // What a failed turn said of this id, it said of the old message.
  if (message.id === id) state.unlogged.delete(id)
  yield* (yield* InboxDiscarded).emit({ agent, message: old })
  yield* (yield* InboxInserted).emit({ agent, message })
  if (message.id !== id) yield* release(state, id)
})

/** Takes every pending message out, next-step first. */
export const clear = Effect.fnUntraced(function* (state: AgentState) {
  const { "next-step": joining, "next-turn": prompts } = state.session.inbox
  for (const { id } of [...joining, ...prompts]) yield* discard(state, id, "canceled")
})

/** Takes one message out and tells those who wait for it. A message that is not pending is left alone. */
export const discard = Effect.fnUntraced(function* (state: AgentState, id: MessageId, outcome: Outcome) {
  const { agent, session } = state
  const message = yield* atOnce(
    Effect.suspend(() => {
      const place = Inbox.find(session.inbox, id)
      return place === undefined ? Effect.succeed(undefined) : take(state, place, outcome)
    })
  )
  if (message === undefined) return
  yield* (yield* InboxDiscarded).emit({ agent, message })
  // Dropped by the turn that claimed it: its end is the answer. Otherwise nobody will ever answer.
  if (outcome === "canceled") yield* release(state, id)
})

type Outcome = NonNullable<InboxSplice["outcome"]>
type Place = NonNullable<ReturnType<typeof Inbox.find>>

/** Looking up a place and changing what stands there: others may change the lists while a fiber yields. */
const atOnce = Effect.withMaxOpsBeforeYield(Number.POSITIVE_INFINITY)

/** Where a message stands that its owner may still change: it is pending, and no turn has claimed it. */
const unclaimed = (state: AgentState, id: MessageId): Effect.Effect<Place, AgentError> =>
  Effect.suspend(() => {
    const place = Inbox.find(state.session.inbox, id)
    if (place !== undefined && !state.claimed.has(id)) return Effect.succeed(place)
    return new AgentError({
      code: "MESSAGE_NOT_PENDING",
      message: `message ${id} is not pending any more; it was claimed by a turn, withdrawn or replaced before`
    })
  })

/** The message that stood there. */
const take = ({ session }: AgentState, { index, target }: Place, outcome: Outcome, ...inserted: Array<UserMessage>) =>
  Effect.as(
    session.append("agent/inbox/spliced", { target, start: index, removedCount: 1, inserted, outcome }),
    session.inbox[target][index]!
  )

const release = (state: AgentState, id: MessageId) =>
  Effect.suspend(() => {
    const waiter = state.waiters.get(id)
    state.waiters.delete(id)
    return waiter === undefined
      ? Effect.void
      : Deferred.fail(
          waiter,
          new AgentError({
            code: "MESSAGE_DROPPED",
            message: `message ${id} was withdrawn or replaced before a turn claimed it`
          })
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
  // The prompt of the turn stays the one that was reserved first, whatever was sent to the front since.
  const prompt = prompts.find(({ id }) => state.claimed.get(id) === turn) ?? prompts[0]
  const messages = target === "next-turn" && prompt !== undefined ? [...joining, prompt] : joining
  for (const { id } of messages) {
    state.claimed.set(id, turn)
    state.unlogged.delete(id)
  }
  return messages
}
