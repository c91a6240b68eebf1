/**
 * `dsh run`: one task, one agent, one answer.
 */
import type { Agent } from "@dsh/agent/Agent"
import * as LayerBuilder from "@dsh/compose/LayerBuilder"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { resolve } from "node:path"
import { isatty } from "node:tty"
import type { Launch } from "../Argv.ts"
import type { Command } from "../Dispatch.ts"
import * as Environment from "../Environment.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import * as Headless from "../Headless.ts"
import * as HomeFolder from "../HomeFolder.ts"
import * as Limits from "../Limits.ts"
import type { Output } from "../Output.ts"
import * as Preset from "../Permissions/Preset.ts"
import * as Choice from "../AgentPresets/Choice.ts"
import * as PriceTable from "../PriceTable.ts"
import type { Run } from "../Request.ts"
import * as RunSettings from "../RunSettings.ts"
import * as Task from "../Task.ts"
import * as Work from "../Work.ts"

type Observe = (agent: Agent) => (entry: LogEntry) => void

export const run = (request: Run): Command =>
  (request.json
    ? Effect.flatMap(
        Effect.promise(() => import("../JsonRun.ts")),
        ({ recorded }) => recorded((observe) => worked(request, observe))
      )
    : worked(request)
  ).pipe(
    Effect.tapBoth({
      onSuccess: (run) => notifying((folder, notify) => notify.worked(folder, run)),
      onFailure: (failure) => notifying((folder, notify) => notify.failed(folder, failure))
    }),
    Effect.map(({ exitCode }) => exitCode)
  )

/** Who has no settings has not asked to be told. */
const notifying = (
  tell: (folder: string, notify: typeof import("../Notify.ts")) => Effect.Effect<void, never, Output>
): Effect.Effect<void, never, Output> =>
  Effect.flatMap(HomeFolder.withSettings, (folder) =>
    folder === undefined
      ? Effect.void
      : Effect.flatMap(
          Effect.promise(() => import("../Notify.ts")),
          (notify) => tell(folder, notify)
        )
  )

const worked = (request: Run, observe?: Observe) =>
  Effect.gen(function* () {
    const { checkInvariants, from, json, model } = request
    const limits = Limits.isGiven(request.limits) ? yield* Limits.parse(request.limits) : undefined
    const answer = request.outputSchema === undefined ? undefined : yield* formOf(request.outputSchema, request)
    const file = request.file === undefined || request.file === "-" ? request.file : resolve(request.file)
    const launch = request.cwd === undefined ? request.launch : yield* goInto(request.cwd, request.launch)
    const reading = Task.resolve({ words: request.words, file })
    const task = yield* limits?.timeMs === undefined ? reading : inTime(reading, limits.timeMs)
    const cassette = yield* Environment.cassette
    // Nobody is asked when everything is played back.
    const provider = cassette?.mode === "replay" ? nobody : yield* Environment.provider
    const maxRetries = yield* Environment.maxRetries
    const maxRepeats = yield* Environment.maxRepeats
    const toolsMode = yield* Environment.toolsMode
    const preset = yield* Preset.resolve(request.permission)
    const choice = yield* Choice.resolve(request.preset)
    const settings = yield* RunSettings.load
    // To look at `process.stderr` is to make a stream.
    const isShown = request.usage || (isatty(2) && !json)
    const prices = isShown || limits?.cost !== undefined ? yield* PriceTable.load : undefined
    const priced = limits?.cost === undefined || prices === undefined ? undefined : { limits, prices }
    if (priced !== undefined && from._tag === "New") {
      const { defaultModel } = settings
      const asked = model === undefined ? defaultModel : { ...defaultModel, model }
      yield* Limits.priced(priced.limits, priced.prices, asked)
    }
    return yield* Work.work({
      task,
      model,
      defaultModel: settings.defaultModel,
      from,
      preset: choice,
      permission: preset,
      cwd: process.cwd(),
      isCwdGiven: request.cwd !== undefined,
      answer,
      waitsForJobs: request.waitBackground,
      usage: isShown ? prices : undefined,
      priced,
      observe
    }).pipe(
      Effect.tap(() => (cassette === undefined ? Effect.void : allPlayed)),
      Effect.scoped,
      LayerBuilder.provide(
        Headless.layer({
          provider,
          launch,
          checkInvariants,
          maxRepeats,
          maxRetries,
          limits,
          prices: priced?.prices,
          toolsMode,
          cassette,
          permission: preset.standing,
          maxParallelToolCalls: settings.maxParallelToolCalls,
          defaultModel: settings.defaultModel
        })
      )
    )
  })

const nobody: Environment.Provider = { apiKey: Redacted.make("none"), baseUrl: undefined }

const allPlayed = Effect.gen(function* () {
  const { LlmCassette } = yield* Effect.promise(() => import("@dsh/llm/LlmCassette"))
  const cassette = yield* Effect.serviceOption(LlmCassette)
  if (Option.isSome(cassette)) yield* Effect.mapError(cassette.value.assertConsumed, Failure.fromError)
})

/** Who pipes in for ever must not keep a run waiting that has a limit. */
const inTime = (task: ReturnType<typeof Task.resolve>, timeMs: number) =>
  Effect.timeoutFail(task, {
    duration: timeMs,
    onTimeout: () =>
      new Failure.Failure({
        code: "BUDGET",
        message: `the budget of ${timeMs / 1000} seconds is spent, and what is piped in has not come to its end`,
        exitCode: ExitCode.budget
      })
  })

const formOf = (file: string, { outputRetries = "2" }: Run) =>
  Effect.gen(function* () {
    if (!/^\d{1,2}$/.test(outputRetries)) {
      return yield* Failure.usage(`--output-retries takes a number from 0 to 99, not "${outputRetries}"`)
    }
    const { load } = yield* Effect.promise(() => import("../OutputForm.ts"))
    return { form: yield* load(file), retries: Number(outputRetries) }
  })

/** From here on everything is as if `dsh` had been started there, but for the files that were named before. */
const goInto = (folder: string, launch: Launch | undefined) =>
  Effect.try({
    try: () => {
      const from = process.cwd()
      process.chdir(folder)
      return launch && { ...launch, patches: launch.patches.map((file) => resolve(from, file)) }
    },
    catch: (cause) => Failure.usage(`--cwd takes a folder that is there (${String(cause)})`)
  })
