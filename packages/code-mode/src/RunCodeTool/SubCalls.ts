/**
 * The calls of one program. Each goes through the whole pipeline, as a child of the call that runs the program, by the rules of calls that
 * the model makes itself: taken in the order they were made, policies asked one at a time, bodies of parallel-safe calls overlapping up to a
 * cap, others alone, results judged and logged in order.
 *
 * A call that was started is logged as started and as settled, whatever happens; one that never got its turn leaves no trace.
 */
import type { Json } from "@dsh/kernel/Json"
import type { ContentBlock } from "@dsh/protocol/Block"
import { CallId } from "@dsh/protocol/Ids"
import type { SessionError } from "@dsh/session/SessionError"
import type { ToolContext } from "@dsh/tools/Tool"
import type { ToolExecution, ToolOutcome } from "@dsh/tools/ToolHooks"
import * as Pipeline from "@dsh/tools/ToolPipeline"
import { Tools } from "@dsh/tools/Tools"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { BindingError } from "../CodeRuntime.ts"
import { shortened } from "./Shortened.ts"

interface Slot {
  readonly callId: CallId
  readonly name: string
  readonly args: Json
  readonly answer: Deferred.Deferred<Json, BindingError>
}

export interface SubCalls {
  /** Makes a call and waits for its value. The call goes on when the wait is given up. */
  readonly call: (name: string, args: Json) => Effect.Effect<Json, BindingError>
  /** No call is started any more; those that run are waited for, or cancelled. Fails when the log did. */
  readonly close: (how: "drain" | "cancel") => Effect.Effect<void, SessionError>
  /** Of the results so far. */
  readonly images: () => ReadonlyArray<ContentBlock>
}

const ended = new BindingError({ message: "the program ended before this call was started" })

export const make = (
  context: ToolContext,
  maxParallel: number
): Effect.Effect<SubCalls, never, Pipeline.PipelineServices | Scope.Scope> =>
  Effect.gen(function* () {
    const tools = yield* Tools
    const room = yield* Effect.makeSemaphore(Math.max(1, maxParallel))
    const queue = yield* Queue.unbounded<Slot | undefined>()
    const bodies = yield* FiberSet.make<void>()
    const images: Array<ContentBlock> = []
    let count = 0
    let isClosed = false
    let broken: SessionError | undefined
    /** Done when everything that was started so far is committed. */
    let committed = yield* Deferred.make<void>()
    yield* Deferred.succeed(committed, undefined)

    const place = ({ callId, name }: Slot) => ({
      rootCallId: context.rootCallId,
      parentCallId: context.callId,
      subCallId: callId,
      name
    })

    /** `false` when the log refused it. */
    const logged = (append: Effect.Effect<unknown, SessionError> | undefined): Effect.Effect<boolean> =>
      Effect.match(append ?? Effect.void, {
        onSuccess: () => true,
        onFailure: (error) => {
          broken ??= error
          return false
        }
      })

    const commit = Effect.fnUntraced(function* (slot: Slot, outcome: ToolOutcome) {
      const { content, isError } = outcome
      yield* logged(
        context.session?.append("tool/code-dispatch", { ...place(slot), isError, content: content.map(shortened) })
      )
      for (const message of outcome.additionalContexts) yield* context.deferContext(message)
      if (outcome.isError)
        return yield* Deferred.fail(slot.answer, new BindingError({ message: outcome.error.message }))
      if (outcome.concludesTurn) yield* context.concludeTurn
      images.push(...content.filter(({ type }) => type === "image"))
      return yield* Deferred.succeed(slot.answer, outcome.value)
    })

    /** From the result of a body, or of the policy instead of it, to the answer. Not to be interrupted, but where it restores. */
    const settle = (
      slot: Slot,
      execution: ToolExecution,
      running: Effect.Effect<Pipeline.Dispatched, never, Pipeline.PipelineServices>,
      [earlier, own]: readonly [Deferred.Deferred<void>, Deferred.Deferred<void>]
    ) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          let isStarted = false
          const entered = Effect.zipRight(
            Effect.sync(() => {
              isStarted = true
            }),
            running
          )
          const judged = Effect.flatMap(entered, (result) =>
            Effect.zipRight(Deferred.await(earlier), Pipeline.finalize(execution, result))
          )
          const exit = yield* Effect.exit(restore(judged))
          const outcome = Exit.isSuccess(exit)
            ? exit.value
            : yield* Pipeline.finalize(execution, { outcome: Pipeline.aborted(isStarted), final: true })
          yield* commit(slot, outcome)
          yield* Deferred.succeed(own, undefined)
        })
      )

    const abandoned = (slot: Slot) => Deferred.fail(slot.answer, ended)

    const start = (slot: Slot) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          // Asked for each call at its turn: the registry may have changed meanwhile.
          const tool = tools.get(slot.name)
          if (tool?.load !== undefined) yield* restore(tool.load)
          const isParallel = tool?.isParallelSafe(slot.args) === true
          yield* restore(isParallel ? room.take(1) : Deferred.await(committed))
          const release = isParallel ? room.release(1) : Effect.void
          if (isClosed) return yield* Effect.zipRight(release, abandoned(slot))
          const isLogged = yield* logged(
            context.session?.append("tool/code-dispatch-start", { ...place(slot), arguments: slot.args })
          )
          if (!isLogged) return yield* Effect.zipRight(release, abandoned(slot))

          const turn = [committed, yield* Deferred.make<void>()] as const
          committed = turn[1]
          const { callId, name } = slot
          const { rootCallId, session, token } = context
          const prepared = yield* Effect.exit(
            restore(Pipeline.prepare({ callId, name, arguments: slot.args, session, rootCallId, parent: token }))
          )
          if (Exit.isFailure(prepared)) {
            yield* release
            yield* commit(slot, Pipeline.aborted(false))
            return yield* Deferred.succeed(turn[1], undefined)
          }
          const { execution, kind } = prepared.value
          const running =
            prepared.value.kind === "ready"
              ? Pipeline.dispatch(execution)
              : Effect.succeed({ outcome: prepared.value.outcome, final: kind === "failed" })
          const settling = settle(slot, execution, Effect.ensuring(running, release), turn)
          return isParallel ? yield* FiberSet.run(bodies, settling) : yield* restore(settling)
        })
      )

    const starter = yield* Effect.forkScoped(
      Effect.iterate(true, {
        while: (goesOn) => goesOn,
        body: () =>
          Effect.flatMap(Queue.take(queue), (slot) =>
            slot === undefined ? Effect.succeed(false) : Effect.as(start(slot), true)
          )
      })
    )

    return {
      images: () => images,
      call: (name, args) =>
        Effect.gen(function* () {
          if (isClosed) return yield* ended
          const answer = yield* Deferred.make<Json, BindingError>()
          yield* Queue.offer(queue, { callId: CallId(`${context.callId}:code:${++count}`), name, args, answer })
          return yield* Deferred.await(answer)
        }),
      close: (how) =>
        Effect.gen(function* () {
          isClosed = true
          yield* Queue.offer(queue, undefined)
          if (how === "cancel") {
            yield* Fiber.interrupt(starter)
            yield* FiberSet.clear(bodies)
          }
          yield* Fiber.await(starter)
          yield* FiberSet.awaitEmpty(bodies)
          if (broken !== undefined) return yield* Effect.fail(broken)
        })
    }
  })
