/**
 * One task, from the folder it is done in to its result.
 */
import type { Agent } from "@dsh/agent/Agent"
import type { PreStep } from "@dsh/agent/AgentHooks"
import type { Agents } from "@dsh/agent/Agents"
import type { Budgets } from "@dsh/agent/Budgets"
import type { PermissionPresets } from "@dsh/permission/PermissionPresets"
import { SessionId } from "@dsh/protocol/Ids"
import type { Sessions } from "@dsh/session/Sessions"
import type { Execute } from "@dsh/tools/ToolHooks"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Options } from "../Batch.ts"
import { BatchError } from "../BatchError.ts"
import type { BatchJournal, Known } from "../BatchJournal.ts"
import type { BatchResult } from "../BatchResult.ts"
import * as Task from "../BatchTask.ts"
import type { BatchTask } from "../BatchTask.ts"
import type { Workspaces } from "../Workspaces.ts"
import * as Attempts from "./Attempts.ts"
import type { Ending } from "./Ending.ts"
import * as Opening from "./Opening.ts"
import * as Outcome from "./Outcome.ts"
import type { Purse } from "./Purse.ts"
import { Trail } from "./Trail.ts"
import { isAbsolute, join } from "node:path"

export type Services = Agents | Sessions | PreStep | Execute

export interface Shared {
  readonly options: Options
  readonly ending: Ending
  readonly purse: Purse
  readonly agents: Agents["Type"]
  readonly sessions: Sessions["Type"]
  readonly permissions: PermissionPresets["Type"] | undefined
  readonly budgets: Budgets["Type"] | undefined
  readonly workspaces: Workspaces["Type"] | undefined
  readonly journal: BatchJournal["Type"] | undefined
}

/** What is known of a task that is under way, whatever becomes of it. */
export interface Way {
  readonly task: BatchTask
  readonly digest: string
  readonly known: Known | undefined
  readonly trail: Trail
  readonly startedAt: number
  sessionId: string | undefined
  attempts: number
  folder: string | undefined
}

/** Fails only when the journal cannot be kept. */
export const run = (task: BatchTask, shared: Shared): Effect.Effect<BatchResult, BatchError, Services> =>
  Effect.gen(function* () {
    const digest = Task.digest(task)
    const known = shared.journal?.of(task.id)
    const way: Way = {
      task,
      digest,
      known,
      trail: new Trail(shared.purse),
      startedAt: yield* Clock.currentTimeMillis,
      sessionId: known?.started?.sessionId,
      attempts: known?.started?.attempt ?? 0,
      folder: undefined
    }
    const { cut } = shared.ending
    if (cut !== undefined) return yield* conclude(way, shared, Outcome.cancelled(cut))
    shared.options.onStart?.(task)
    return yield* Effect.onInterrupt(
      Effect.flatMap(inWorkspace(way, shared), (outcome) => conclude(way, shared, outcome)),
      () =>
        Effect.zipRight(
          shared.ending.now,
          Effect.suspend(() => Effect.ignoreLogged(conclude(way, shared, Outcome.cancelled(shared.ending.cut!))))
        )
    )
  })

const conclude = (way: Way, { journal }: Shared, outcome: Outcome.Outcome) =>
  Effect.gen(function* () {
    const { attempts, digest, folder, sessionId, startedAt, task, trail } = way
    const { error, exitCode, finishReason, status } = outcome
    const result: BatchResult = {
      id: task.id,
      ...(sessionId !== undefined && { sessionId }),
      status,
      finishReason,
      ...trail.report(),
      exitCode,
      attempts,
      durationMs: (yield* Clock.currentTimeMillis) - startedAt,
      ...(error !== undefined && { error }),
      ...(folder !== undefined && { folder })
    }
    if (journal !== undefined) yield* journal.finished(digest, result)
    return result
  })

const inWorkspace = (way: Way, shared: Shared): Effect.Effect<Outcome.Outcome, BatchError, Services> =>
  Effect.gen(function* () {
    const { task } = way
    const named = task.cwd ?? "."
    const cwd = isAbsolute(named) ? named : join(shared.options.cwd, named)
    const { workspaces } = shared
    if (workspaces === undefined || task.sessionId !== undefined) return yield* withAgent(way, shared, cwd)
    const workspace = yield* workspaces.open(task.id, cwd)
    way.folder = workspace.cwd
    const outcome = yield* withAgent(way, shared, workspace.cwd)
    if (outcome.status === "cancelled") return outcome
    way.folder = yield* Effect.catchAll(workspace.finish, (error) =>
      Effect.as(Effect.logWarning(`${workspace.cwd} is left as it is`, error), workspace.cwd)
    )
    return outcome
  }).pipe(settled)

const withAgent = (way: Way, shared: Shared, cwd: string): Effect.Effect<Outcome.Outcome, BatchError, Services> =>
  Effect.gen(function* () {
    const { agent, from } = yield* Opening.open(way, shared, cwd)
    for (const event of agent.session.range(from)) way.trail.take(event)
    yield* agent.session.observe((entry) => way.trail.take(entry))
    const ended = yield* Attempts.attempt(agent, from, way, shared)
    yield* flush(agent, shared)
    return ended
  }).pipe(Effect.scoped, settled)

const flush = ({ session }: Agent, { sessions }: Shared) => sessions.flush(SessionId(session.id))

/** What goes wrong is how the task ended, unless it is the journal. */
const settled = <E extends { readonly code: string; readonly message: string }, R>(
  effect: Effect.Effect<Outcome.Outcome, E | BatchError, R>
): Effect.Effect<Outcome.Outcome, BatchError, R> =>
  Effect.flatMap(Effect.exit(effect), (exit) => {
    if (Exit.isSuccess(exit)) return Effect.succeed(exit.value)
    if (Exit.isInterrupted(exit)) return Effect.interrupt
    const error = Outcome.failureOf(exit.cause)
    return error instanceof BatchError ? Effect.fail(error) : Effect.succeed(Outcome.ofCause(exit.cause))
  })
