/**
 * The agent of a task: a new one, or one that goes on in its session.
 */
import type { Agent } from "@dsh/agent/Agent"
import { PreStep } from "@dsh/agent/AgentHooks"
import type { Limits } from "@dsh/agent/Budgets"
import * as Ids from "@dsh/kernel/Ids"
import { SessionId } from "@dsh/protocol/Ids"
import * as CommandEnv from "@dsh/shell/CommandEnv"
import { Execute } from "@dsh/tools/ToolHooks"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Span from "../Span.ts"
import type { Ending } from "./Ending.ts"
import type { Shared, Way } from "./TaskRun.ts"

/** `from`: the seq from which on the events of its session are about the task. */
export const open = (way: Way, shared: Shared, cwd: string) =>
  Effect.gen(function* () {
    const { known, task } = way
    const goesOn = known?.started?.sessionId ?? task.sessionId
    const id = SessionId(goesOn ?? `session-${yield* Ids.fresh}`)
    way.sessionId = id
    const found = goesOn === undefined ? undefined : yield* resumed(id, way, shared)
    const agent = found ?? (yield* created(id, way, shared, cwd))
    yield* permitted(agent, found !== undefined, way, shared)
    const limits = limitsOf(way, shared)
    if (Object.keys(limits).length > 0 && shared.budgets !== undefined) yield* shared.budgets.give(agent, limits)
    const from = known?.started?.from ?? (found === undefined ? 0 : agent.session.length)
    return { agent, from }
  })

/** The effort belongs to the model it was chosen with. */
const modelOf = ({ model }: Way["task"], { options }: Shared) =>
  model === undefined ? options.model : { provider: options.model.provider, model }

const resumed = (id: SessionId, { known, task }: Way, shared: Shared) => {
  const { agents, ending, options } = shared
  // A session of ours may have ended before its log says which model it is for; any other keeps its own.
  const isOurs = known?.started !== undefined && task.sessionId === undefined
  return agents
    .resume({
      id,
      ...(isOurs || task.model !== undefined ? modelOf(task, shared) : { provider: options.model.provider }),
      setup: setup(task, ending)
    })
    .pipe(
      Effect.catchIf(
        ({ code }) => code === "SESSION_NOT_FOUND",
        () => Effect.succeed(undefined)
      )
    )
}

const created = (id: SessionId, { task }: Way, shared: Shared, cwd: string) => {
  const { agents, ending, options } = shared
  const preset = task.preset ?? options.preset
  return agents.create({
    id,
    cwd,
    ...modelOf(task, shared),
    ...(preset !== undefined && { preset }),
    setup: setup(task, ending)
  })
}

const setup = ({ env }: Way["task"], ending: Ending) =>
  env === undefined
    ? batchBudget(ending)
    : Layer.merge(
        batchBudget(ending),
        Execute.hook("batch environment", (execution, next) =>
          Effect.provideService(next(execution), CommandEnv.AgentEnv, env)
        )
      )

/** No request is made that the batch has no money for. */
const batchBudget = (ending: Ending) =>
  PreStep.hook(
    "batch budget",
    (input, next) => {
      const { cut } = ending
      return cut?.reason === "budget" && input.due
        ? // The cancel interrupts this very turn.
          Effect.zipRight(input.agent.cancel({ kind: "batch", code: cut.code }), Effect.never)
        : next(input)
    },
    { order: -1001 }
  )

const permitted = (agent: Agent, isOld: boolean, { known, task }: Way, { options, permissions }: Shared) =>
  Effect.gen(function* () {
    if (permissions === undefined) return
    const { session } = agent
    const { ceiling, permission = ceiling } = options
    const wanted = task.permission ?? options.permission
    if (wanted !== undefined) return yield* permissions.set(session, wanted)
    if (!isOld || known !== undefined || permission === undefined) return
    const names = Object.keys(permissions.table)
    const current = names.indexOf(permissions.current(session))
    // One that fits no preset may be more than any.
    if (current === -1 || names.indexOf(permission) < current) yield* permissions.set(session, permission)
  })

const limitsOf = ({ task: { budget } }: Way, { options: { maxCost, timeoutMs } }: Shared): Limits => {
  const timeMs = (budget?.timeout === undefined ? undefined : Span.parse(budget.timeout)) ?? timeoutMs
  // A model whose price nobody knows could spend any amount.
  const cost = budget?.cost ?? maxCost
  return {
    ...(budget?.steps !== undefined && { steps: budget.steps }),
    ...(budget?.tokens !== undefined && { tokens: budget.tokens }),
    ...(cost !== undefined && { cost }),
    ...(timeMs !== undefined && { timeMs })
  }
}
