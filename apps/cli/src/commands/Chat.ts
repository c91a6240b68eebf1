/**
 * `dsh chat`: an agent to talk with, in a terminal.
 */
import * as LayerBuilder from "@dsh/compose/LayerBuilder"
import * as Effect from "effect/Effect"
import { isatty } from "node:tty"
import manifest from "../../package.json" with { type: "json" }
import * as Choice from "../AgentPresets/Choice.ts"
import * as Color from "../Color.ts"
import type { Command } from "../Dispatch.ts"
import * as Environment from "../Environment.ts"
import * as Failure from "../Failure.ts"
import * as Headless from "../Headless.ts"
import * as Preset from "../Permissions/Preset.ts"
import * as PriceTable from "../PriceTable.ts"
import type { Chat } from "../Request.ts"
import * as RunSettings from "../RunSettings.ts"

/** Fails where nobody could see or type anything. */
const terminal = Effect.suspend(() => {
  if (!isatty(0) || !isatty(1)) {
    return Failure.usage(
      `a chat needs a terminal, and there is none; one task without one is: dsh run "fix the failing test"`
    )
  }
  if (process.env["TERM"] === "dumb") {
    return Failure.usage(
      `a chat needs a terminal that can move its cursor, and TERM is "dumb"; one task without that is: dsh run "fix the failing test"`
    )
  }
  return Effect.void
})

export const run = ({ from, model, permission, preset: kind, profile = "chat", words }: Chat): Command =>
  Effect.gen(function* () {
    yield* terminal
    const provider = yield* Environment.provider
    const maxRetries = yield* Environment.maxRetries
    const maxRepeats = yield* Environment.maxRepeats
    const toolsMode = yield* Environment.toolsMode
    const preset = yield* Preset.resolve(permission)
    const choice = yield* Choice.resolve(kind)
    const settings = yield* RunSettings.load
    const prices = yield* PriceTable.load
    const [chat, { runner }] = yield* Effect.promise(() =>
      Promise.all([import("../chat/Chat.ts"), import("../chat/Runner.ts")])
    )
    return yield* chat
      .run({
        beginning: {
          cwd: process.cwd(),
          defaultModel: settings.defaultModel,
          from,
          model,
          permission: preset,
          preset: choice
        },
        first: words.length === 0 ? undefined : words.join(" "),
        prices,
        color: Color.isEnabled(process.stdout, process.env),
        version: manifest.version
      })
      .pipe(
        LayerBuilder.provide(
          Headless.layerFor(runner, {
            provider,
            launch: { profile, patches: [] },
            maxRepeats,
            maxRetries,
            toolsMode,
            permission: preset.standing,
            maxParallelToolCalls: settings.maxParallelToolCalls,
            defaultModel: settings.defaultModel
          })
        )
      )
  })
