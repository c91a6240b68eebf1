/**
 * One turn: any number of steps, possibly none, with a durable start and a durable end on every way out.
 *
 *   turn/start
 *     claim → assemble → pre-step        (nothing logged; a failure leaves the input pending)
 *     step/start, user/message*, request … tool results, step/end
 *     … again while results are owed or input for the next step is pending
 *   turn/end
 *
 * Two things are kept apart: how the turn will end as far as is known, and whether a request is owed. A step that hit the output
 * ceiling decides the former and never hides the latter.
 */
import type { TurnOutcome } from "@dsh/agent/Agent"
import { AgentFailed, TurnStopping } from "@dsh/agent/AgentHooks"
import * as Inbox from "@dsh/protocol/Inbox"
import type { UserMessage } from "@dsh/protocol/Message"
import type { InboxTarget, TurnEndReason } from "@dsh/protocol/SessionEvent"
import type { LlmFailure } from "@dsh/protocol/StreamChunk"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as AgentInbox from "./AgentInbox.ts"
import type { Activity, AgentState } from "./AgentState.ts"
import * as Failure from "./Failure.ts"
import * as PreStep from "./PreStep.ts"
import * as Step from "./Step.ts"
import type { At } from "./ToolScheduler.ts"
import * as TurnEnd from "./TurnEnd.ts"

export type TurnServices = Step.StepServices

/** How the steps of a turn ended, and whether another turn may open without a new wake. */
interface Ended {
  readonly reason: TurnEndReason
  readonly goOn: boolean
}

/** Runs one turn and never fails. Sets `activity.stopping` when the next one may not open without a new wake. */
export const run = (state: AgentState, activity: Activity): Effect.Effect<void, never, TurnServices> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const turn = state.lastTurn + 1
      const opened = yield* Effect.exit(state.session.append("turn/start", { turn }))
      if (Exit.isFailure(opened)) {
        activity.stopping = true
        return yield* report(state, { turn, step: 0 }, Failure.ofCause(opened.cause))
      }
      state.lastTurn = turn
      // At once: whoever waits for these messages is told how this turn ends, even if it ends before it does anything.
      AgentInbox.reserve(state, "next-turn", turn)
      const exit = yield* Effect.exit(restore(steps(state, turn)))
      const at = { turn, step: state.step }
      const ended = Exit.isSuccess(exit) ? exit.value : { reason: reasonOf(exit.cause, activity), goOn: false }
      // Decided before anybody hears of it: input that arrives from here on needs a wake of its own.
      if (!ended.goOn) activity.stopping = true
      if (ended.reason.kind === "error") yield* report(state, at, ended.reason.error)
      const closed = yield* Effect.either(TurnEnd.close(state, at, ended.reason))
      if (Either.isRight(closed)) return yield* answer(state, turn, ended.reason)
      activity.stopping = true
      const error = Failure.ofCause(Cause.fail(closed.left))
      yield* report(state, at, error)
      yield* answer(state, turn, { kind: "error", error })
    })
  ).pipe(Effect.withSpan("Agent.turn", { attributes: { session: state.session.id }, captureStackTrace: false }))

/** Our own cancel is known by its cause; any other interruption is a failure of what was interrupted. */
const reasonOf = (cause: Cause.Cause<unknown>, activity: Activity): TurnEndReason =>
  activity.cause !== undefined && Cause.isInterrupted(cause)
    ? { kind: "aborted", reason: activity.cause }
    : { kind: "error", error: Failure.ofCause(cause) }

const report = Effect.fnUntraced(function* (state: AgentState, at: At, failure: LlmFailure) {
  const point = yield* AgentFailed
  yield* point.emit({ agent: state.agent, ...at, failure })
})

/** Tells those who wait for a message that this turn claimed. */
const answer = Effect.fnUntraced(function* (state: AgentState, turn: number, reason: TurnEndReason) {
  for (const [id, claimedBy] of state.claimed) {
    if (claimedBy !== turn) continue
    state.claimed.delete(id)
    const outcome: TurnOutcome = { turn, reason, entered: state.entered.has(id) }
    state.entered.delete(id)
    if (!outcome.entered || state.broken !== undefined) state.unlogged.set(id, outcome)
    const waiter = state.waiters.get(id)
    state.waiters.delete(id)
    if (waiter !== undefined) yield* Deferred.succeed(waiter, outcome)
  }
  if (state.broken !== undefined) yield* AgentInbox.releaseAll(state, state.broken)
})

// -----------------------------------------------------------------------------
// steps
// -----------------------------------------------------------------------------

const completed: TurnEndReason = { kind: "completed" }

const steps = Effect.fnUntraced(function* (state: AgentState, turn: number) {
  const { agent, session } = state
  const stopping = yield* TurnStopping
  let reason: TurnEndReason = completed
  let owed = false
  let target: InboxTarget = "next-turn"
  for (let step = 1; ; step++) {
    const entry: PreStep.Entry = yield* PreStep.run(state, { turn, step }, target, owed)
    if (entry.kind === "reject") {
      yield* drop(state, entry.claimed)
      return { reason: { kind: "blocked" }, goOn: false } satisfies Ended
    }
    if (!owed && !entry.hasInput) {
      yield* drop(state, entry.claimed)
      return { reason, goOn: step > 1 } satisfies Ended
    }
    const result: Step.StepResult = yield* inStep(state, { turn, step }, entry)
    owed = result === "continue"
    if (result === "max-tokens") reason = { kind: "max-tokens" }
    target = "next-step"
    if (owed) continue
    if (session.inbox["next-step"].length === 0) yield* stopping.run({ agent, turn })
    if (session.inbox["next-step"].length === 0) return { reason, goOn: true } satisfies Ended
  }
})

/** Opens a step, lets the input enter, runs it and closes it. One that fails ends its turn, and the end of the turn closes it. */
const inStep = (state: AgentState, at: At, entry: Extract<PreStep.Entry, { readonly kind: "enter" }>) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const { session } = state
      const entering = new Set(entry.messages.map(({ id }) => id))
      yield* drop(
        state,
        entry.claimed.filter(({ id }) => !entering.has(id))
      )
      yield* session.append("step/start", at)
      state.step = at.step
      const result = yield* Effect.zipRight(enter(state, entry), Step.run(state, at, entry.prompt, restore))
      yield* session.append("step/end", at)
      state.step = 0
      return result
    })
  )

/** Phase two of the claim: the message event takes each message over. One that was withdrawn meanwhile stays out. */
const enter = (state: AgentState, entry: Extract<PreStep.Entry, { readonly kind: "enter" }>) =>
  Effect.forEach(
    entry.messages,
    (message) =>
      Effect.suspend(() => {
        const { claimed, entered, session } = state
        if (claimed.has(message.id) && Inbox.find(session.inbox, message.id) === undefined) return Effect.void
        return Effect.tap(session.append("user/message", message), () =>
          Effect.sync(() => {
            if (claimed.has(message.id)) entered.add(message.id)
          })
        )
      }),
    { discard: true }
  )

const drop = (state: AgentState, messages: ReadonlyArray<UserMessage>) =>
  Effect.forEach(messages, ({ id }) => AgentInbox.discard(state, id, "dropped"), { discard: true })
