/**
 * Runs the tool calls of one assistant message.
 *
 * Calls are taken in model order: each is logged, the policy is asked (one at a time), and its body runs. An exclusive call waits until
 * everything before it is committed and holds back everything after it, so it needs no fiber; parallel-safe calls get one each and
 * overlap up to the cap. Results are committed (judged and logged) in model order by whoever settles one, as soon as it and all before
 * it are there. So a policy that waits for a human holds back later starts and no finished sibling.
 *
 * Whatever happens, every call is answered: a cancel interrupts the bodies and answers the rest as aborted, a failure of the log
 * drains the bodies and answers the rest as unknown or not started.
 */
import type { ToolCallBlock } from "@dsh/protocol/Block"
import { fresh } from "@dsh/kernel/Ids"
import { MessageId } from "@dsh/protocol/Ids"
import * as Interrupted from "@dsh/protocol/Interrupted"
import { toolResult } from "@dsh/protocol/Message"
import type { SessionError } from "@dsh/session/SessionError"
import * as Pipeline from "@dsh/tools/ToolPipeline"
import type { ToolExecution, ToolFailure, ToolOutcome } from "@dsh/tools/ToolHooks"
import { Tools } from "@dsh/tools/Tools"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as AgentInbox from "./AgentInbox.ts"
import type { AgentState } from "./AgentState.ts"
import { LoopConfig } from "./LoopConfig.ts"
import * as TurnEnd from "./TurnEnd.ts"

export type SchedulerServices = Pipeline.PipelineServices | AgentInbox.InboxServices

/** Where the batch stands in the session. */
export interface At {
  readonly turn: number
  readonly step: number
}

interface Slot {
  readonly call: ToolCallBlock
  /** Where its `tool/call` is in the log, unless it was refused. */
  at: number | undefined
  execution: ToolExecution | undefined
  /** The body was entered. */
  dispatched: boolean
  /** What the body, or the policy instead of it, came to. */
  result: Pipeline.Dispatched | undefined
  /** Its `tool/result` is in the log. */
  answered: boolean
}

/** Makes the inside of what is not to be interrupted interruptible again. */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Runs `calls` and logs their results. `true` when a result asked to end the turn. Not to be interrupted, but where it restores. */
export const run = Effect.fnUntraced(function* (
  state: AgentState,
  at: At,
  calls: ReadonlyArray<ToolCallBlock>,
  restore: Restore
): Effect.fn.Return<boolean, SessionError, SchedulerServices> {
  const batch = new Batch(state, at, calls)
  const exit = yield* Effect.exit(restore(start(batch)))
  if (Exit.isFailure(exit)) {
    if (Cause.isInterruptedOnly(exit.cause)) {
      yield* Fiber.interruptAll(batch.bodies)
      yield* Effect.onError(answerAborted(batch), () => answerUnknown(batch))
    } else {
      const drained = restore(Fiber.awaitAll(batch.bodies))
      // A cancel ends the wait, and still every call is answered.
      yield* Effect.exit(Effect.onInterrupt(drained, () => Fiber.interruptAll(batch.bodies)))
      yield* answerUnknown(batch)
    }
    yield* exit
  }
  return batch.slots.some(({ result }) => result?.outcome.isError === false && result.outcome.concludesTurn)
})

class Batch {
  readonly state: AgentState
  readonly at: At
  readonly slots: ReadonlyArray<Slot>
  /** One for each parallel-safe call that was started. */
  readonly bodies: Array<Fiber.RuntimeFiber<void>> = []
  /** Calls answered so far, in model order. */
  committed = 0
  committing = false
  failure: Cause.Cause<SessionError> | undefined
  #waiting: (() => void) | undefined

  constructor(state: AgentState, at: At, calls: ReadonlyArray<ToolCallBlock>) {
    this.state = state
    this.at = at
    this.slots = calls.map((call) => ({
      call,
      at: undefined,
      execution: undefined,
      dispatched: false,
      result: undefined,
      answered: false
    }))
  }

  /** Something settled, was committed, or failed. */
  changed(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.()
  }

  /** Waits for `condition`; fails when committing has failed. Only the starter waits. */
  until(condition: () => boolean): Effect.Effect<void, SessionError> {
    return Effect.suspend(() => {
      if (this.failure !== undefined) return Effect.failCause(this.failure)
      if (condition()) return Effect.void
      const change = Effect.async<void>((resume) => {
        this.#waiting = () => resume(Effect.void)
        return Effect.sync(() => {
          this.#waiting = undefined
        })
      })
      return Effect.zipRight(change, this.until(condition))
    })
  }
}

// -----------------------------------------------------------------------------
// starting
// -----------------------------------------------------------------------------

const start = Effect.fnUntraced(function* (batch: Batch) {
  const tools = yield* Tools
  for (const [index, slot] of batch.slots.entries()) {
    const args = parseArguments(slot.call.arguments)
    // Asked for each call at its turn: the registry may have changed since the batch began.
    const tool = tools.get(slot.call.name)
    if (tool?.load !== undefined) yield* tool.load
    const parallel = tool?.isParallelSafe(args) === true
    if (parallel) yield* room(batch, index)
    else yield* batch.until(() => batch.committed === index)
    yield* logCall(batch, slot)
    const prepared = yield* Pipeline.prepare({
      callId: slot.call.id,
      name: slot.call.name,
      arguments: args,
      session: batch.state.session
    })
    slot.execution = prepared.execution
    if (prepared.kind !== "ready") {
      yield* settle(batch, slot, { outcome: prepared.outcome, final: prepared.kind === "failed" })
    } else if (parallel) {
      batch.bodies.push(yield* Effect.forkIn(body(batch, slot, prepared.execution), batch.state.activities))
    } else {
      slot.dispatched = true
      yield* settle(batch, slot, yield* Pipeline.dispatch(prepared.execution))
    }
    // It was an exclusive call: nothing after it may start before it is committed.
    if (!parallel) yield* batch.until(() => batch.committed > index)
  }
  yield* batch.until(() => batch.committed === batch.slots.length)
})

/** An empty string is a call without arguments; what is not JSON is passed on and fails validation. */
const parseArguments = (raw: string) => {
  if (raw.trim() === "") return {}
  try {
    return JSON.parse(raw)
  } catch {
    return raw
  }
}

/** Waits until fewer bodies run than may run at once. */
const room = (batch: Batch, index: number) =>
  Effect.flatMap(LoopConfig, ({ maxParallelToolCalls }) =>
    batch.until(() => {
      const running = batch.slots.slice(0, index).filter(({ result }) => result === undefined)
      return running.length < Math.max(1, maxParallelToolCalls)
    })
  )

const body = (batch: Batch, slot: Slot, execution: ToolExecution) =>
  Effect.suspend(() => {
    slot.dispatched = true
    return Effect.flatMap(Pipeline.dispatch(execution), (result) => settle(batch, slot, result))
  })

// -----------------------------------------------------------------------------
// committing
// -----------------------------------------------------------------------------

const settle = (batch: Batch, slot: Slot, result: Pipeline.Dispatched) =>
  Effect.suspend(() => {
    slot.result = result
    batch.changed()
    return commitReady(batch)
  })

/** Commits what is settled, as far as it is contiguous. One fiber does it at a time; what settles meanwhile is left to that one. */
const commitReady = (batch: Batch): Effect.Effect<void, never, SchedulerServices> =>
  Effect.suspend(() => {
    if (batch.committing || batch.failure !== undefined) return Effect.void
    batch.committing = true
    return commitNext(batch).pipe(
      Effect.catchAllCause((cause) =>
        Effect.sync(() => {
          if (!Cause.isInterruptedOnly(cause)) batch.failure = cause
        })
      ),
      Effect.ensuring(
        Effect.sync(() => {
          batch.committing = false
          batch.changed()
        })
      )
    )
  })

const commitNext = (batch: Batch): Effect.Effect<void, SessionError, SchedulerServices> =>
  Effect.suspend(() => {
    const slot = batch.slots[batch.committed]
    return slot?.result === undefined
      ? Effect.void
      : Effect.zipRight(
          commit(batch, slot),
          Effect.suspend(() => commitNext(batch))
        )
  })

const commit = Effect.fnUntraced(function* (batch: Batch, slot: Slot) {
  const { execution, result } = slot
  if (execution === undefined || result === undefined) return
  const outcome = yield* Pipeline.finalize(execution, result)
  yield* Effect.uninterruptible(answer(batch, slot, outcome))
})

/** Logs a result and hands its contexts to the next step. */
const answer = Effect.fnUntraced(function* (batch: Batch, slot: Slot, outcome: ToolOutcome) {
  slot.result = { outcome, final: true }
  yield* logResult(batch, slot, outcome)
  batch.committed++
  batch.changed()
  for (const message of outcome.additionalContexts) yield* AgentInbox.insert(batch.state, message, "next-step")
})

const logCall = Effect.fnUntraced(function* ({ at, state }: Batch, slot: Slot) {
  const { arguments: args, id, name } = slot.call
  // Before the append: who hears of it may cancel, and then nothing comes after it.
  slot.at = state.session.length
  yield* state.session.append("tool/call", { ...at, callId: id, name, arguments: args })
})

/** The seq of its `tool/call`. */
const startOf = ({ state }: Batch, { at, call }: Slot): number | undefined => {
  const event = at === undefined ? undefined : state.session.at(at)
  return event?.type === "tool/call" && event.data.callId === call.id ? at : undefined
}

const logResult = Effect.fnUntraced(function* ({ at, state }: Batch, slot: Slot, outcome: ToolOutcome) {
  const id = MessageId(yield* fresh)
  const message = toolResult(id, slot.call.id, outcome.content, outcome.isError)
  yield* state.session.append(
    "tool/result",
    {
      ...at,
      message,
      ...(outcome.isError && outcome.error.info !== undefined && { error: outcome.error.info }),
      ...(outcome.meta !== undefined && { meta: outcome.meta })
    },
    slot.at === undefined ? {} : { sourceEventSeqs: [slot.at] }
  )
  slot.answered = true
})

// -----------------------------------------------------------------------------
// answering what is left
// -----------------------------------------------------------------------------

/** After a cancel: bodies have ended; a success that was not committed counts as aborted, a failure stands. */
const answerAborted = Effect.fnUntraced(function* (batch: Batch) {
  for (const slot of batch.slots) {
    if (slot.answered) continue
    if (startOf(batch, slot) === undefined) yield* logCall(batch, slot)
    const known = slot.result?.outcome
    const outcome: ToolOutcome =
      known?.isError === true
        ? known
        : { ...Pipeline.aborted(slot.dispatched), additionalContexts: known?.additionalContexts ?? [] }
    if (slot.execution !== undefined) yield* Pipeline.finalize(slot.execution, { outcome, final: true })
    yield* answer(batch, slot, outcome)
  }
})

/** After a failure of the scheduler itself. The log may be what failed; a call that stays unanswered takes the session with it. */
const answerUnknown = (batch: Batch) =>
  Effect.forEach(
    batch.slots.filter(({ answered }) => !answered),
    (slot) => {
      const isStarted = startOf(batch, slot) !== undefined
      const outcome = lost(isStarted ? Interrupted.outcomeUnknown : Interrupted.notStarted)
      slot.result = { outcome, final: true }
      return Effect.catchAll(
        Effect.zipRight(
          isStarted ? Effect.void : logCall(batch, slot),
          Effect.suspend(() => logResult(batch, slot, outcome))
        ),
        (error) => TurnEnd.broke(batch.state, error)
      )
    },
    { discard: true }
  )

const lost = (loss: Interrupted.Loss): ToolFailure => ({
  isError: true,
  error: { message: loss.message, info: { name: loss.name, code: loss.code } },
  content: Interrupted.content(loss),
  additionalContexts: []
})
