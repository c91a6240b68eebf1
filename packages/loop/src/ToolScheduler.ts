/**
 * Runs the tool calls of one assistant message.
 *
 * Two fibers share the batch. The starter takes calls in model order: it logs the call, asks the policy (one at a time), and launches
 * the body; an exclusive call waits until everything before it is committed and holds back everything after it, parallel-safe calls
 * overlap up to the cap. The committer takes results in model order: it judges and logs each as soon as it and all before it are
 * there. So a policy that waits for a human holds back later starts and no finished sibling.
 *
 * Whatever happens, every call is answered: a cancel interrupts the bodies and answers the rest as aborted, a failure of the log
 * drains the bodies and answers the rest as unknown or not started.
 */
import type { ToolCallBlock } from "@dsh/protocol/Block"
import { text } from "@dsh/protocol/Block"
import { fresh } from "@dsh/kernel/Ids"
import { MessageId } from "@dsh/protocol/Ids"
import { toolResult } from "@dsh/protocol/Message"
import type { SessionError } from "@dsh/session/SessionError"
import * as Pipeline from "@dsh/tools/ToolPipeline"
import type { ToolExecution, ToolFailure, ToolOutcome } from "@dsh/tools/ToolHooks"
import { Tools } from "@dsh/tools/Tools"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Scope from "effect/Scope"
import * as AgentInbox from "./AgentInbox.ts"
import type { AgentState } from "./AgentState.ts"
import { LoopConfig } from "./LoopConfig.ts"

export type SchedulerServices = Pipeline.PipelineServices | AgentInbox.InboxServices

/** Where the batch stands in the session. */
export interface At {
  readonly turn: number
  readonly step: number
}

interface Slot {
  readonly call: ToolCallBlock
  /** The seq of its `tool/call`, once logged. */
  started: number | undefined
  execution: ToolExecution | undefined
  /** What the body, or the policy instead of it, came to. */
  result: Pipeline.Dispatched | undefined
  readonly settled: Deferred.Deferred<void>
  readonly committed: Deferred.Deferred<void>
  answered: boolean
}

/** Runs `calls` and logs their results. `true` when a result asked to end the turn. */
export const run = (
  state: AgentState,
  at: At,
  calls: ReadonlyArray<ToolCallBlock>
): Effect.Effect<boolean, SessionError, SchedulerServices> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const slots = calls.map(makeSlot)
      const bodies: Array<Fiber.RuntimeFiber<void>> = []
      const scope = yield* Scope.make()
      const work = Effect.all([start(state, at, slots, bodies, scope), commitAll(state, at, slots)], {
        concurrency: "unbounded",
        discard: true
      })
      const exit = yield* Effect.exit(restore(work))
      if (Exit.isFailure(exit)) {
        if (Cause.isInterruptedOnly(exit.cause)) {
          yield* Fiber.interruptAll(bodies)
          yield* answerAborted(state, at, slots)
        } else {
          yield* Effect.onInterrupt(restore(Fiber.awaitAll(bodies)), () => Fiber.interruptAll(bodies))
          yield* answerUnknown(state, at, slots)
        }
      }
      yield* Scope.close(scope, exit)
      yield* exit
      return slots.some(({ result }) => result?.outcome.isError === false && result.outcome.concludesTurn)
    })
  )

const makeSlot = (call: ToolCallBlock): Slot => ({
  call,
  started: undefined,
  execution: undefined,
  result: undefined,
  settled: Deferred.unsafeMake<void>(FiberId.none),
  committed: Deferred.unsafeMake<void>(FiberId.none),
  answered: false
})

// -----------------------------------------------------------------------------
// starting
// -----------------------------------------------------------------------------

const start = Effect.fnUntraced(function* (
  state: AgentState,
  at: At,
  slots: ReadonlyArray<Slot>,
  bodies: Array<Fiber.RuntimeFiber<void>>,
  scope: Scope.Scope
) {
  const tools = yield* Tools
  for (const [index, slot] of slots.entries()) {
    const args = parseArguments(slot.call.arguments)
    // Asked for each call at its turn: the registry may have changed since the batch began.
    const parallel = tools.get(slot.call.name)?.isParallelSafe(args) === true
    yield* parallel ? room(slots.slice(0, index)) : allCommitted(slots.slice(0, index))
    yield* logCall(state, at, slot)
    const prepared = yield* Pipeline.prepare({
      callId: slot.call.id,
      name: slot.call.name,
      arguments: args,
      session: state.session
    })
    slot.execution = prepared.execution
    if (prepared.kind === "ready") {
      bodies.push(yield* Effect.forkIn(body(slot, prepared.execution), scope))
    } else {
      yield* settle(slot, { outcome: prepared.outcome, final: prepared.kind === "failed" })
    }
    if (!parallel) yield* Deferred.await(slot.committed)
  }
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

const allCommitted = (before: ReadonlyArray<Slot>) =>
  Effect.forEach(before, ({ committed }) => Deferred.await(committed), { discard: true })

const room = Effect.fnUntraced(function* (before: ReadonlyArray<Slot>) {
  while (true) {
    const { maxParallelToolCalls } = yield* LoopConfig
    const running = before.filter(({ result }) => result === undefined)
    if (running.length < Math.max(1, maxParallelToolCalls)) return
    yield* Effect.raceAll(running.map(({ settled }) => Deferred.await(settled)))
  }
})

const body = (slot: Slot, execution: ToolExecution) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.exit(restore(Pipeline.dispatch(execution))), (exit) =>
      settle(slot, Exit.isSuccess(exit) ? exit.value : { outcome: Pipeline.aborted(true), final: true })
    )
  )

const settle = (slot: Slot, result: Pipeline.Dispatched) =>
  Effect.suspend(() => {
    slot.result = result
    return Effect.asVoid(Deferred.succeed(slot.settled, undefined))
  })

// -----------------------------------------------------------------------------
// committing
// -----------------------------------------------------------------------------

const commitAll = (state: AgentState, at: At, slots: ReadonlyArray<Slot>) =>
  Effect.forEach(
    slots,
    (slot) =>
      Effect.zipRight(
        Deferred.await(slot.settled),
        Effect.suspend(() => commit(state, at, slot))
      ),
    { discard: true }
  )

const commit = Effect.fnUntraced(function* (state: AgentState, at: At, slot: Slot) {
  const { execution, result } = slot
  if (execution === undefined || result === undefined) return
  const outcome = yield* Pipeline.finalize(execution, result)
  yield* Effect.uninterruptible(
    Effect.gen(function* () {
      slot.result = { outcome, final: true }
      yield* logResult(state, at, slot, outcome)
      for (const message of outcome.additionalContexts) yield* AgentInbox.insert(state, message, "next-step")
      yield* Deferred.succeed(slot.committed, undefined)
    })
  )
})

const logCall = Effect.fnUntraced(function* ({ session }: AgentState, { step, turn }: At, slot: Slot) {
  const { arguments: args, id, name } = slot.call
  const event = yield* session.append("tool/call", { turn, step, callId: id, name, arguments: args })
  slot.started = event.seq
})

const logResult = Effect.fnUntraced(function* (
  { session }: AgentState,
  { step, turn }: At,
  slot: Slot,
  outcome: ToolOutcome
) {
  const id = MessageId(yield* fresh)
  const message = toolResult(id, slot.call.id, outcome.content, outcome.isError)
  yield* session.append(
    "tool/result",
    {
      turn,
      step,
      message,
      ...(outcome.isError && outcome.error.info !== undefined && { error: outcome.error.info }),
      ...(outcome.meta !== undefined && { meta: outcome.meta })
    },
    slot.started === undefined ? {} : { sourceEventSeqs: [slot.started] }
  )
  slot.answered = true
})

// -----------------------------------------------------------------------------
// answering what is left
// -----------------------------------------------------------------------------

/** After a cancel: bodies have ended; a success that was not committed counts as aborted, a failure stands. */
const answerAborted = Effect.fnUntraced(function* (state: AgentState, at: At, slots: ReadonlyArray<Slot>) {
  for (const slot of slots) {
    if (slot.answered) continue
    if (slot.started === undefined) yield* logCall(state, at, slot)
    const known = slot.result?.outcome
    const outcome: ToolOutcome =
      known?.isError === true
        ? known
        : { ...Pipeline.aborted(known !== undefined), additionalContexts: known?.additionalContexts ?? [] }
    if (slot.execution !== undefined) yield* Pipeline.finalize(slot.execution, { outcome, final: true })
    slot.result = { outcome, final: true }
    yield* logResult(state, at, slot, outcome)
    for (const message of outcome.additionalContexts) yield* AgentInbox.insert(state, message, "next-step")
  }
})

/** After a failure of the scheduler itself. The log may be what failed, so each answer is only tried. */
const answerUnknown = (state: AgentState, at: At, slots: ReadonlyArray<Slot>) =>
  Effect.forEach(
    slots.filter(({ answered }) => !answered),
    (slot) => {
      const outcome = slot.started === undefined ? notStarted : outcomeUnknown
      slot.result = { outcome, final: true }
      return Effect.catchAll(
        Effect.zipRight(
          slot.started === undefined ? logCall(state, at, slot) : Effect.void,
          Effect.suspend(() => logResult(state, at, slot, outcome))
        ),
        (error) => Effect.logError(`tool call ${slot.call.id} of session ${state.session.id} stays unanswered`, error)
      )
    },
    { discard: true }
  )

const synthetic = (name: string, code: string, message: string): ToolFailure => ({
  isError: true,
  error: { message, info: { name, code } },
  content: [text(`Error: ${message}`)],
  additionalContexts: []
})

const outcomeUnknown = synthetic(
  "ToolOutcomeUnknownError",
  "TOOL_OUTCOME_UNKNOWN",
  "the call was started and its outcome was lost; repeat it only if it reads or is idempotent, else verify what happened or ask"
)

const notStarted = synthetic(
  "ToolNotStartedError",
  "TOOL_NOT_STARTED",
  "the call was never started; it may be repeated"
)
