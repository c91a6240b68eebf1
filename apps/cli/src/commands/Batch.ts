/**
 * `dsh batch`: many tasks, each for an agent of its own, in one process and one composition.
 */
import * as Batch from "@dsh/batch/Batch"
import { BatchJournal } from "@dsh/batch/BatchJournal"
import type { BatchTask } from "@dsh/batch/BatchTask"
import { Workspaces } from "@dsh/batch/Workspaces"
import * as LayerBuilder from "@dsh/compose/LayerBuilder"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Choice from "../AgentPresets/Choice.ts"
import * as Display from "../Batch/Display.ts"
import * as Input from "../Batch/Input.ts"
import * as Isolation from "../Batch/Isolation.ts"
import * as Progress from "../Batch/Progress.ts"
import * as Results from "../Batch/Results.ts"
import { Tally } from "../Batch/Tally.ts"
import type { Command } from "../Dispatch.ts"
import * as Environment from "../Environment.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import * as Headless from "../Headless.ts"
import * as Limits from "../Limits.ts"
import { Output } from "../Output.ts"
import * as Preset from "../Permissions/Preset.ts"
import * as PriceTable from "../PriceTable.ts"
import type * as Request from "../Request.ts"
import * as RunSettings from "../RunSettings.ts"

export const run = (request: Request.Batch): Command =>
  Effect.gen(function* () {
    const { file, model } = request
    const concurrency = yield* count("--concurrency", request.concurrency, 1)
    const retry = yield* count("--retry", request.retry, 0)
    const limits = yield* Limits.parse({
      maxSteps: undefined,
      maxTokens: undefined,
      maxCost: request.maxCost,
      timeout: request.timeout
    })
    const isolate = yield* Isolation.parse(request.isolate)
    const tasks = yield* Input.read(file)
    const provider = yield* Environment.provider
    const preset = yield* Preset.resolve(request.permission)
    const kind = yield* Choice.resolve(request.preset)
    const settings = yield* RunSettings.load
    const prices = yield* PriceTable.load
    const standing = { ...settings.defaultModel, ...(model !== undefined && { model }) }
    for (const one of new Set(tasks.map((task) => task.model ?? standing.model))) {
      yield* Limits.priced(limits, prices, { ...standing, model: one })
    }
    const results = yield* Results.open({ ...request, isolate })
    const isolated = yield* Isolation.make(results.about.isolate, results.about.batch)
    const options: Batch.Options = {
      cwd: process.cwd(),
      // The effort belongs to the model it was chosen with.
      model: model === undefined ? settings.defaultModel : { provider: standing.provider, model },
      preset: kind?.id,
      permission: preset.by === "flag" ? preset.standing : undefined,
      ceiling: preset.by === "environment" ? preset.standing : undefined,
      concurrency,
      retry,
      timeoutMs: limits.timeMs,
      maxCost: limits.cost,
      prices: prices.size === 0 ? undefined : prices
    }
    const headless = Headless.layer({
      provider,
      limits: {},
      prices,
      maxRepeats: yield* Environment.maxRepeats,
      maxRetries: yield* Environment.maxRetries,
      toolsMode: yield* Environment.toolsMode,
      permission: preset.standing,
      maxParallelToolCalls: settings.maxParallelToolCalls,
      defaultModel: settings.defaultModel
    })
    const optional = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
      const journaled =
        results.journal === undefined ? effect : Effect.provideService(effect, BatchJournal, results.journal)
      return isolated.workspaces === undefined
        ? journaled
        : Effect.provideService(journaled, Workspaces, isolated.workspaces)
    }
    return yield* Effect.gen(function* () {
      const problems = [
        ...Input.folders(tasks, options.cwd, isolated.workspaces !== undefined),
        ...(yield* Isolation.check(isolated, tasks, options.cwd)),
        ...(yield* Batch.check(tasks, options))
      ]
      if (problems.length > 0) return yield* Input.refuse(file, problems, ExitCode.configuration)
      return yield* work(tasks, options, results, isolated)
    }).pipe(optional, Effect.scoped, LayerBuilder.provide(headless))
  }).pipe(Effect.scoped)

const count = (name: string, value: string | undefined, least: 0 | 1): Effect.Effect<number, Failure.Failure> =>
  value === undefined || (/^\d{1,6}$/.test(value) && Number(value) >= least)
    ? Effect.succeed(value === undefined ? least : Number(value))
    : Failure.usage(`${name} takes a whole number from ${least} to 999999, not "${value}"`)

/** A signal ends it in order: every task has a result then, and what was written is whole. */
const work = (
  tasks: ReadonlyArray<BatchTask>,
  options: Batch.Options,
  results: Results.Results,
  isolated: Isolation.Isolated
) =>
  Effect.gen(function* () {
    const output = yield* Output
    const stop = yield* Deferred.make<void>()
    const startedAt = yield* Clock.currentTimeMillis
    const tally = new Tally(tasks.length)
    const asked = new Set(tasks.map(({ id }) => id))
    const notAsked = { count: 0 }
    yield* results.before((result) => {
      if (asked.has(result.id)) tally.take(result, true)
      else notAsked.count++
    })
    if (tally.done > 0) output.notice(`${tally.done} of ${tally.total} tasks are done already`)
    if (notAsked.count > 0) {
      output.notice(`${notAsked.count} results are of tasks that are not in the file any more; they stay`)
    }
    if (isolated.root !== undefined) output.notice(`tasks work in folders of their own under ${isolated.root}`)
    const display = yield* Display.make(tally, startedAt, output)
    const running = Batch.run(tasks, {
      ...options,
      spent: tally.bill.cost,
      stop: Deferred.await(stop),
      onStart: () => void tally.started++
    }).pipe(
      Stream.runForEach((result) =>
        Effect.gen(function* () {
          tally.take(result)
          if (results.isGone()) return
          // A file is no terminal.
          if (results.journal === undefined) display.clear()
          yield* results.write(result)
          // Nobody is left to do the others for.
          if (results.isGone()) yield* Deferred.succeed(stop, undefined)
        })
      ),
      Effect.mapError((error) => (error instanceof Failure.Failure ? error : Results.failure(error)))
    )
    const told = Effect.map(Clock.currentTimeMillis, (now) => {
      display.clear()
      for (const line of Progress.summary(tally, now - startedAt, { folder: isolated.root })) output.notice(line)
    })
    yield* Effect.ensuring(
      finishing(running, Deferred.succeed(stop, undefined)),
      Effect.zipRight(Isolation.tidy(isolated), told)
    )
    if (results.isGone()) {
      output.failure({ code: "OUTPUT_CLOSED", message: "whoever read the results went away, so the batch was ended" })
      return ExitCode.failed
    }
    if (tally.isOutOfMoney) return ExitCode.budget
    return tally.completed === tally.total ? ExitCode.completed : ExitCode.failed
  }).pipe(Effect.scoped)

/** When it is interrupted it is told to stop, and goes on until it has. */
const finishing = <A, E, R>(effect: Effect.Effect<A, E, R>, stop: Effect.Effect<unknown>) =>
  Effect.uninterruptibleMask((restore) =>
    // Not a child: those are interrupted at once, together with whoever forked them.
    Effect.flatMap(Effect.forkScoped(Effect.interruptible(effect)), (fiber) =>
      Effect.onInterrupt(restore(Fiber.join(fiber)), () => Effect.zipRight(stop, Fiber.await(fiber)))
    )
  )
