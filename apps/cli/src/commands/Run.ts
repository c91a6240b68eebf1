/**
 * `dsh run`: one task, one agent, one answer.
 */
import * as LayerBuilder from "@dsh/compose/LayerBuilder"
import { LlmCassette } from "@dsh/llm/LlmCassette"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { isatty } from "node:tty"
import type { Command } from "../Dispatch.ts"
import * as Environment from "../Environment.ts"
import * as Failure from "../Failure.ts"
import * as Headless from "../Headless.ts"
import * as Limits from "../Limits.ts"
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
  limits: typed,
  model,
  permission,
  preset: kind,
  usage,
  words
}: Run): Command =>
  Effect.gen(function* () {
    const limits = Limits.isGiven(typed) ? yield* Limits.parse(typed) : undefined
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
    const isShown = usage || isatty(2)
    const prices = isShown || limits?.cost !== undefined ? yield* PriceTable.load : undefined
    const priced = limits?.cost === undefined || prices === undefined ? undefined : { limits, prices }
    if (priced !== undefined && from._tag === "New") {
      const { defaultModel } = settings
      yield* Limits.priced(
        priced.limits,
        priced.prices,
        model === undefined ? defaultModel : { ...defaultModel, model }
      )
    }
    const { exitCode } = yield* Work.work({
      task,
      model,
      defaultModel: settings.defaultModel,
      from,
      preset: choice,
      permission: preset,
      cwd: process.cwd(),
      usage: isShown ? prices : undefined,
      priced
    }).pipe(
      Effect.tap(allPlayed),
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
          maxParallelToolCalls: settings.maxParallelToolCalls
        })
      )
    )
    return exitCode
  })

const nobody: Environment.Provider = { apiKey: Redacted.make("none"), baseUrl: undefined }

const allPlayed = Effect.flatMap(Effect.serviceOption(LlmCassette), (cassette) =>
  Option.isNone(cassette) ? Effect.void : Effect.mapError(cassette.value.assertConsumed, Failure.fromError)
)
