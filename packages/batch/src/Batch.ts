/**
 * Many tasks, each for an agent of its own, so many at a time: a stream of their results in the order in which they are done.
 *
 * All agents live in the composition that is there; each has the realm of its preset, its folder and its budget, and is closed and
 * forgotten when its task is done. What goes wrong with one task is in its result and stops no other.
 *
 * A task that is tried again goes on in its session: the agent knows what it has done already, and does nothing twice. So does one whose
 * process ended, where there is a `BatchJournal`; and where its session says that it was completed, nothing is run at all.
 *
 * Tasks may share a folder. Nothing is between them then: what one changes, the others see; `Workspaces` give each a folder of its own.
 */
import { AgentPresets } from "@dsh/agent/AgentPresets"
import { Agents } from "@dsh/agent/Agents"
import { Budgets } from "@dsh/agent/Budgets"
import * as Nearest from "@dsh/kernel/Nearest"
import { PermissionPresets } from "@dsh/permission/PermissionPresets"
import type { Cost } from "@dsh/protocol/Prices"
import type * as Prices from "@dsh/protocol/Prices"
import { Sessions } from "@dsh/session/Sessions"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Ending } from "./Batch/Ending.ts"
import { Purse } from "./Batch/Purse.ts"
import * as TaskRun from "./Batch/TaskRun.ts"
import { BatchError } from "./BatchError.ts"
import { BatchJournal } from "./BatchJournal.ts"
import type { BatchResult } from "./BatchResult.ts"
import * as Task from "./BatchTask.ts"
import type { BatchTask } from "./BatchTask.ts"
import type { Problem } from "./TaskFile.ts"
import { Workspaces } from "./Workspaces.ts"

export interface Options {
  /** The folder that the folders of tasks are taken against, and where tasks work that name none. Absolute. */
  readonly cwd: string
  /** What new agents use; a task may name another model. */
  readonly model: { readonly provider: string; readonly model: string; readonly reasoningEffort?: string }
  /** Of agents whose task names none. Default: the standing one. */
  readonly preset?: string | undefined
  /** What tools may do for tasks that do not say. Default: what new sessions may, or what the session may that goes on. */
  readonly permission?: string | undefined
  /** No session that goes on may do more than this preset, unless its task says so. */
  readonly ceiling?: string | undefined
  /** How many tasks at a time. Default 1. */
  readonly concurrency?: number | undefined
  /** How often an agent is set to its task again when the model could not be reached. Default 0. */
  readonly retry?: number | undefined
  /** For tasks that have no time limit of their own. */
  readonly timeoutMs?: number | undefined
  /**
   * For all of them together, the requests of earlier processes included. Once it is spent no task is begun and no request is made; those
   * that are out are answered.
   */
  readonly maxCost?: { readonly amount: number; readonly currency: string } | undefined
  /** What was spent before. */
  readonly spent?: Cost | undefined
  /** What models cost; without them results say nothing of it. */
  readonly prices?: Prices.PriceTable | undefined
  /** When this completes, tasks that are under way are cancelled and the others not begun; all of them have a result. */
  readonly stop?: Effect.Effect<void> | undefined
  /** Hears of each task that is begun. */
  readonly onStart?: ((task: BatchTask) => void) | undefined
}

/**
 * Runs the tasks that have no result in the journal yet. Each that is run gives one result. Interruption cancels what is under way, and
 * waits until it is written into the journal.
 */
export const run = (
  tasks: ReadonlyArray<BatchTask>,
  options: Options
): Stream.Stream<BatchResult, BatchError, TaskRun.Services> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const journal = yield* Effect.serviceOption(BatchJournal)
      yield* valid(options)
      const problems = yield* check(tasks, options)
      if (problems.length > 0) return yield* refused("NOT_SUPPORTED", problems)
      const known = Option.getOrUndefined(journal)
      const changed = changedIn(tasks, known)
      if (changed.length > 0) return yield* refused("TASKS_CHANGED", changed)
      const ending = yield* Ending.make
      const shared: TaskRun.Shared = {
        options,
        ending,
        purse: new Purse(options.prices, options.maxCost, options.spent, () => ending.spent(options.maxCost)),
        agents: yield* Agents,
        sessions: yield* Sessions,
        permissions: Option.getOrUndefined(yield* Effect.serviceOption(PermissionPresets)),
        budgets: Option.getOrUndefined(yield* Effect.serviceOption(Budgets)),
        workspaces: Option.getOrUndefined(yield* Effect.serviceOption(Workspaces)),
        journal: known
      }
      if (options.stop !== undefined) yield* Effect.forkScoped(Effect.zipRight(options.stop, ending.now))
      return Stream.fromIterable(tasks.filter(({ id }) => known?.of(id)?.isFinished !== true)).pipe(
        Stream.mapEffect((task) => TaskRun.run(task, shared), {
          concurrency: options.concurrency ?? 1,
          unordered: true
        })
      )
    })
  )

const valid = ({ concurrency = 1, maxCost, retry = 0, timeoutMs = 1 }: Options): Effect.Effect<void, BatchError> => {
  const wrong = (what: string) => new BatchError({ code: "INVALID_OPTIONS", message: what })
  if (!(Number.isSafeInteger(concurrency) && concurrency > 0)) {
    return wrong(`the concurrency is ${concurrency}; use a whole number above 0`)
  }
  if (!(Number.isSafeInteger(retry) && retry >= 0)) return wrong(`retry is ${retry}; use a whole number, or 0`)
  if (!(Number.isSafeInteger(timeoutMs) && timeoutMs > 0)) {
    return wrong(`the timeout is ${timeoutMs} ms; use a whole number above 0`)
  }
  return maxCost === undefined || maxCost.amount > 0
    ? Effect.void
    : wrong(`the cost of the batch is limited to ${maxCost.amount} ${maxCost.currency}; use an amount above 0`)
}

/** What this composition cannot do for the tasks, or what they get wrong about it. */
export const check = (
  tasks: ReadonlyArray<BatchTask>,
  options: Pick<Options, "permission" | "preset" | "timeoutMs">
): Effect.Effect<ReadonlyArray<Problem>> =>
  Effect.gen(function* () {
    const permissions = Option.getOrUndefined(yield* Effect.serviceOption(PermissionPresets))
    const presets = Option.getOrUndefined(yield* Effect.serviceOption(AgentPresets))
    const hasBudgets = Option.isSome(yield* Effect.serviceOption(Budgets))
    const isAsked = options.preset !== undefined || tasks.some(({ preset }) => preset !== undefined)
    // A list that cannot be made is told by the task that needs it.
    const listed = isAsked && presets !== undefined ? yield* Effect.option(presets.list) : Option.none()
    const kinds = Option.getOrUndefined(listed)?.map(({ id }) => id)
    const names = Object.keys(permissions?.table ?? {})
    const problems: Array<Problem> = []
    for (const task of tasks) {
      const { budget, line = 0, permission = options.permission, preset = options.preset } = task
      const say = (field: string, reason: string) => problems.push({ line, field, reason })
      if (permission !== undefined && !names.includes(permission)) {
        say("permission", `is "${permission}", which is no permission preset; ${Nearest.suggest(permission, names)}`)
      }
      if (preset !== undefined && presets === undefined) say("preset", "cannot be had: this composition has no presets")
      if (preset !== undefined && kinds !== undefined && !kinds.includes(preset)) {
        say("preset", `is "${preset}", and there is no such preset; ${Nearest.suggest(preset, kinds)}`)
      }
      if ((budget !== undefined || options.timeoutMs !== undefined) && !hasBudgets) {
        say("budget", "cannot be held: this composition has no budgets; switch on the row budgets")
      }
    }
    return problems
  })

/** Tasks that are under the id of another one in the journal. */
const changedIn = (tasks: ReadonlyArray<BatchTask>, journal: BatchJournal["Type"] | undefined) =>
  tasks.flatMap((task): ReadonlyArray<Problem> => {
    const known = journal?.of(task.id)
    return known === undefined || known.digest === Task.digest(task)
      ? []
      : [{ line: task.line ?? 0, reason: `task "${task.id}" is not what it was when the batch was begun` }]
  })

const refused = (code: BatchError["code"], problems: ReadonlyArray<Problem>) => {
  const lines = problems.map(({ field, line, reason }) =>
    [...(line > 0 ? [`line ${line}:`] : []), ...(field === undefined ? [] : [field]), reason].join(" ")
  )
  const advice =
    code === "TASKS_CHANGED" ? "; put it back, give the task another id, or begin a batch with another output" : ""
  return new BatchError({ code, message: `${lines.join("; ")}${advice}` })
}
