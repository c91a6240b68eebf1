/**
 * `dsh run`: one task, one agent, one answer.
 */
import * as LayerBuilder from "@dsh/compose/LayerBuilder"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { isatty } from "node:tty"
import type { Command } from "../Dispatch.ts"
import * as Environment from "../Environment.ts"
import * as Failure from "../Failure.ts"
import * as Headless from "../Headless.ts"
import * as Preset from "../Permissions/Preset.ts"
import * as Choice from "../AgentPresets/Choice.ts"
import * as PriceTable from "../PriceTable.ts"
import type { Run } from "../Request.ts"
import * as RunSettings from "../RunSettings.ts"
import * as Task from "../Task.ts"
import * as Work from "../Work.ts"

export const run = ({
  checkInvariants,
  from,
  launch,
  maxSteps,
  model,
  permission,
  preset: kind,
  usage,
  words
}: Run): Command =>
  Effect.gen(function* () {
    const steps = yield* wholeNumber("--max-steps", maxSteps)
    const task = yield* Task.resolve(words)
    const cassette = yield* Environment.cassette
    // Nobody is asked when everything is played back.
    const provider = cassette?.mode === "replay" ? nobody : yield* Environment.provider
    const maxRetries = yield* Environment.maxRetries
    const maxRepeats = yield* Environment.maxRepeats
    const toolsMode = yield* Environment.toolsMode
    const preset = yield* Preset.resolve(permission)
    const choice = yield* Choice.resolve(kind)
    const settings = yield* RunSettings.load
    // To look at `process.stderr` is to make a stream.
    const prices = usage || isatty(2) ? yield* PriceTable.load : undefined
    const { exitCode } = yield* Work.work({
      task,
      model,
      defaultModel: settings.defaultModel,
      from,
      preset: choice,
      permission: preset,
      cwd: process.cwd(),
      usage: prices
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
          maxSteps: steps,
          toolsMode,
          cassette,
          permission: preset.standing,
          maxParallelToolCalls: settings.maxParallelToolCalls
        })
      )
    )
    return exitCode
  })

const nobody: Environment.Provider = { apiKey: Redacted.make("none"), baseUrl: undefined }

const allPlayed = Effect.gen(function* () {
  const { LlmCassette } = yield* Effect.promise(() => import("@dsh/llm/LlmCassette"))
  const cassette = yield* Effect.serviceOption(LlmCassette)
  if (Option.isSome(cassette)) yield* Effect.mapError(cassette.value.assertConsumed, Failure.fromError)
})

const wholeNumber = (name: string, value: string | undefined): Effect.Effect<number | undefined, Failure.Failure> =>
  value === undefined || /^[1-9]\d{0,8}$/.test(value)
    ? Effect.succeed(value === undefined ? undefined : Number(value))
    : Failure.usage(`${name} takes a whole number above 0, not "${value}"`)
