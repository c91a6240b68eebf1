/**
 * `dsh --complete WORD…`: what the completion scripts ask.
 */
import * as Presets from "@dsh/compose/Presets"
import * as Effect from "effect/Effect"
import * as AgentPresets from "../AgentPresets.ts"
import * as Completions from "../Completions.ts"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"
import * as Sessions from "../Sessions.ts"

const lookUp = (source: Completions.Source) => {
  switch (source) {
    case "sessions":
      return Sessions.withPersistence((persistence) =>
        Effect.map(persistence.list, ({ sessions }) => sessions.map(({ header }) => header.id))
      )
    case "presets":
      return AgentPresets.local(
        Effect.gen(function* () {
          const listed = yield* Presets.list(yield* AgentPresets.sources, yield* AgentPresets.host)
          return listed.map(({ info }) => info.id)
        })
      )
    case "models":
      return Effect.flatMap(
        Effect.promise(() => import("./Models.ts")),
        ({ catalog }) => Effect.map(catalog, (all) => all.flat().map(({ id }) => id))
      )
  }
}

export const run = (words: ReadonlyArray<string>): Command =>
  Effect.gen(function* () {
    const output = yield* Output
    // Somebody presses Tab: nothing is worth an error then.
    const found = yield* Completions.offer(words, (source) =>
      Effect.orElseSucceed(lookUp(source), (): ReadonlyArray<string> => [])
    )
    if (found !== "") yield* output.print(found)
    return ExitCode.completed
  })
