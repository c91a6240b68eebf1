/**
 * What an agent has left running in the background when its turn is over.
 */
import type { Agent } from "@dsh/agent/Agent"
import { Budgets } from "@dsh/agent/Budgets"
import type { TurnEndReason } from "@dsh/protocol/SessionEvent"
import { JobSettled, Jobs, isOver } from "@dsh/shell/Jobs"
import type { Job } from "@dsh/shell/Jobs"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

export const unfinished = ({ session }: Agent): Effect.Effect<ReadonlyArray<Job>> =>
  Effect.flatMap(
    Effect.serviceOption(Jobs),
    Option.match({
      onNone: () => Effect.succeed([]),
      onSome: (jobs) => Effect.map(jobs.list(session), (all) => all.filter(({ status }) => !isOver(status)))
    })
  )

export const left = (jobs: ReadonlyArray<Job>): string => {
  const which = jobs.map(({ id, label }) => `${id} (${label.replaceAll(/\s+/g, " ").slice(0, 80)})`).join(", ")
  return `still running in the background, and ended with the run: ${which}; --wait-background waits for it`
}

/**
 * Until nothing runs in the background and the agent, which is told of every end, has nothing more to say. Succeeds with what `last` says
 * then, or, when the time of the budget is up before, with that.
 */
export const settle = (agent: Agent, last: () => TurnEndReason): Effect.Effect<TurnEndReason> =>
  Effect.gen(function* () {
    const settled = yield* Effect.serviceOption(JobSettled)
    let news = yield* Deferred.make<void>()
    if (Option.isSome(settled)) yield* settled.value.use("run", () => Deferred.succeed(news, undefined))
    for (;;) {
      yield* agent.whenIdle
      if ((yield* unfinished(agent)).length === 0) return last()
      yield* Deferred.await(news)
      news = yield* Deferred.make<void>()
    }
  }).pipe(Effect.scoped, (waiting) => Effect.flatMap(timeIsUp(agent), (end) => Effect.raceFirst(waiting, end)))

const timeIsUp = (agent: Agent): Effect.Effect<Effect.Effect<TurnEndReason>> =>
  Effect.gen(function* () {
    const budget = Option.getOrUndefined(yield* Effect.serviceOption(Budgets))?.of(agent)
    const limit = budget?.limits.timeMs
    if (budget === undefined || limit === undefined) return Effect.never
    const { timeMs } = yield* budget.spent
    return Effect.delay(
      Effect.succeed<TurnEndReason>({ kind: "aborted", reason: { kind: "budget", of: "time", limit } }),
      Math.max(0, limit - timeMs)
    )
  })
