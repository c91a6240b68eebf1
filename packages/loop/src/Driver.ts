/**
 * What makes an agent go: it wakes, runs turns while they say so, and becomes idle.
 *
 *   idle ──wake──▶ running ──no more turns──▶ idle
 *     └──maintain──▶ maintenance ──job done──▶ idle
 *
 * "Is there work?" and "become idle" happen in one step, so no wake falls in between. A wake that the current activity cannot serve
 * any more (it was cancelled, it is stopping, or it is maintenance) is latched and served when the activity ends. Input that was
 * there before a turn failed waits for the next wake: a failure is not an occasion to try the next prompt.
 */
import { AgentError } from "@dsh/agent/AgentError"
import { AgentStatus } from "@dsh/agent/AgentHooks"
import type { Status } from "@dsh/agent/Agent"
import * as Inbox from "@dsh/protocol/Inbox"
import type { CancelCause } from "@dsh/protocol/SessionEvent"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import type { Activity, AgentState } from "./AgentState.ts"
import * as Turn from "./Turn.ts"

export type DriverServices = Turn.TurnServices

const activity = (kind: Activity["kind"]): Activity => ({
  kind,
  done: Deferred.unsafeMake(FiberId.none),
  cause: undefined,
  fiber: undefined,
  onCancel: undefined,
  stopping: false
})

export const status = (state: AgentState): Status => (state.activity?.kind === "running" ? "running" : "idle")

/** Whether the current activity will not look at the inbox again. */
export const isEnding = ({ activity: current }: AgentState): boolean =>
  current !== undefined && (current.cause !== undefined || current.stopping)

/** On change only: a latched wake is served without being idle in between. */
const publish = Effect.fnUntraced(function* (state: AgentState) {
  const now = status(state)
  if (now === state.published) return
  state.published = now
  const point = yield* AgentStatus
  const { "next-step": joining, "next-turn": prompts } = state.session.inbox
  const parked = now === "running" ? 0 : joining.length + prompts.length
  yield* point.emit({ agent: state.agent, status: now, parked })
})

/** Starts an idle agent; latches the wake when the current activity cannot serve it. Returns at once. */
export const wake = (state: AgentState, scope: Scope.Scope): Effect.Effect<void, never, DriverServices> =>
  Effect.suspend(() => {
    if (state.refusal !== undefined) return Effect.void
    if (state.activity !== undefined) {
      if (state.activity.kind === "maintenance" || isEnding(state)) state.wakeRequested = true
      return Effect.void
    }
    state.activity = activity("running")
    return Effect.asVoid(Effect.forkIn(drive(state, state.activity), scope))
  })

/** Turns until there are no more, then idle. Served latches go through the same door. */
const drive = (state: AgentState, first: Activity): Effect.Effect<void, never, DriverServices> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      let current: Activity | undefined = first
      while (current !== undefined) {
        yield* publish(state)
        yield* turns(state, current)
        const next = becomeIdle(state)
        yield* publish(state)
        yield* Deferred.succeed(current.done, undefined)
        current = next
      }
    })
  )

const turns = Effect.fnUntraced(function* (state: AgentState, current: Activity) {
  // A cancel from a status observer comes before the first turn: then there is none.
  while (current.cause === undefined) {
    const fiber = yield* Effect.fork(Effect.interruptible(Turn.run(state, current)))
    current.fiber = fiber
    // Awaited, not joined: a turn that was cancelled has ended properly and still counts as interrupted.
    yield* Fiber.await(fiber)
    current.fiber = undefined
    if (!Inbox.hasWork(state.session.inbox)) current.stopping = true
    if (current.stopping) return
  }
})

/** Atomic: either the latch is served by a new activity, or the agent is idle and the next wake starts it. */
const becomeIdle = (state: AgentState): Activity | undefined => {
  const again = state.wakeRequested && state.refusal === undefined && Inbox.hasWork(state.session.inbox)
  state.wakeRequested = false
  state.activity = again ? activity("running") : undefined
  return state.activity
}

/** Sets the cause, then interrupts the turn. The first cause wins. Does not wait. */
export const cancel = (state: AgentState, cause: CancelCause): Effect.Effect<void> =>
  Effect.suspend(() => {
    const current = state.activity
    if (current === undefined || current.cause !== undefined) return Effect.void
    current.cause = cause
    current.onCancel?.()
    // Delivered before this returns, so that a cancel from an observer ends the turn at its very next step.
    return current.fiber === undefined ? Effect.void : Fiber.interruptAsFork(current.fiber, FiberId.none)
  })

/** Waits until nothing runs. */
export const whenIdle = (state: AgentState): Effect.Effect<void> =>
  Effect.suspend(() =>
    state.activity === undefined
      ? Effect.void
      : Effect.zipRight(
          Deferred.await(state.activity.done),
          Effect.suspend(() => whenIdle(state))
        )
  )

/** Keeps the agent for `job` alone. */
export const maintain = <A, E, R>(state: AgentState, scope: Scope.Scope, job: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    reserve(state),
    (current) => Effect.raceFirst(job, Effect.zipRight(cancelled(current), Effect.interrupt)),
    (current) =>
      Effect.suspend(() => {
        const wanted = state.wakeRequested && Inbox.hasWork(state.session.inbox)
        state.wakeRequested = false
        state.activity = undefined
        return Effect.zipRight(wanted ? wake(state, scope) : Effect.void, Deferred.succeed(current.done, undefined))
      })
  )

const reserve = (state: AgentState): Effect.Effect<Activity, AgentError> =>
  Effect.suspend(() => {
    if (state.refusal !== undefined) return Effect.fail(state.refusal)
    if (state.activity !== undefined) {
      return Effect.fail(
        new AgentError({ code: "AGENT_BUSY", message: "the agent is not idle; wait for whenIdle and try again" })
      )
    }
    state.activity = activity("maintenance")
    return Effect.succeed(state.activity)
  })

/** Ends when the activity was cancelled and, being maintenance, has no turn to interrupt. */
const cancelled = (current: Activity): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    // The job may have been the one who cancelled, before this had a chance to listen.
    if (current.cause !== undefined) return resume(Effect.void)
    current.onCancel = () => resume(Effect.void)
    return Effect.sync(() => {
      current.onCancel = undefined
    })
  })
