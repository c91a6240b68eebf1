/**
 * Closing what is open in the log. A log that stays open is worse than a turn that failed: the next turn would nest in this one, and a
 * provider refuses a history with unanswered calls. So an end that is refused is tried again, and when it is refused again the session
 * takes no more turns in this life. Resuming it closes what is open, as it does after a crash.
 */
import { AgentError } from "@dsh/agent/AgentError"
import type { TurnEndReason } from "@dsh/protocol/SessionEvent"
import type { SessionError } from "@dsh/session/SessionError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { AgentState } from "./AgentState.ts"
import * as Failure from "./Failure.ts"
import type { At } from "./ToolScheduler.ts"

/**
 * Ends the open step, if there is one, and the turn. Fails with what refused the end of the turn, even when a second one, which names
 * that as its reason, was logged; fails with `SESSION_BROKEN` when something stays open.
 */
export const close = (
  state: AgentState,
  at: At,
  reason: TurnEndReason
): Effect.Effect<void, SessionError | AgentError> =>
  Effect.suspend(() => {
    if (state.broken !== undefined) return state.broken
    return state.step === 0
      ? endTurn(state, at, reason)
      : Effect.zipRight(endStep(state, at), endTurn(state, at, reason))
  })

const endStep = (state: AgentState, at: At) => {
  const end = state.session.append("step/end", at)
  return Effect.map(
    Effect.catchAll(end, () => orBroken(state, end)),
    () => {
      state.step = 0
    }
  )
}

const endTurn = (state: AgentState, { turn }: At, reason: TurnEndReason) =>
  Effect.catchAll(state.session.append("turn/end", { turn, reason }), (first) => {
    const error = Failure.ofCause(Cause.fail(first))
    const second = state.session.append("turn/end", { turn, reason: { kind: "error", error } })
    return Effect.zipRight(orBroken(state, second), first)
  })

const orBroken = <A>(state: AgentState, append: Effect.Effect<A, SessionError>) =>
  Effect.catchAll(append, (error) => Effect.flatMap(broke(state, error), Effect.fail))

/** From now on the agent takes no input and opens no turn. Succeeds with what it tells those who ask. */
export const broke = (state: AgentState, cause: SessionError): Effect.Effect<AgentError> =>
  Effect.suspend(() => {
    const { id } = state.session
    state.broken ??= new AgentError({
      code: "SESSION_BROKEN",
      message: `session ${id} cannot go on, for its log could not be completed; end this agent and resume the session`,
      cause
    })
    state.refusal ??= state.broken
    return Effect.as(Effect.logError(state.broken.message, cause), state.broken)
  })
