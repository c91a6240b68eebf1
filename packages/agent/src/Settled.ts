/**
 * How a message ended that somebody waits for who has nothing else to say: the turn that took it up, or the one that kept it from that.
 */
import * as Inbox from "@dsh/protocol/Inbox"
import type { MessageId } from "@dsh/protocol/Ids"
import type { Session } from "@dsh/session/Session"
import * as Effect from "effect/Effect"
import type { Agent, TurnOutcome } from "./Agent.ts"
import type { AgentError } from "./AgentError.ts"

/**
 * Waits until the agent has nothing to do any more. Like `awaitTurn`, but for a message that is left pending, because a turn for what was
 * there before it failed: a failure is no occasion to try the next prompt. Then it is how that turn ended.
 */
export const settled = (agent: Agent, id: MessageId): Effect.Effect<TurnOutcome, AgentError> =>
  Effect.zipRight(
    agent.whenIdle,
    Effect.suspend(() => {
      const isPending = Inbox.find(agent.session.inbox, id) !== undefined
      const last = isPending ? lastTurn(agent.session) : undefined
      return last === undefined ? agent.awaitTurn(id) : Effect.succeed(last)
    })
  )

const lastTurn = (session: Session): TurnOutcome | undefined => {
  for (let seq = session.length - 1; seq >= 0; seq--) {
    const event = session.at(seq)
    if (event?.type === "turn/end") return { turn: event.data.turn, reason: event.data.reason, entered: false }
  }
  return undefined
}
