/**
 * `dsh preset copy FROM TO`: a preset of one's own to begin with.
 */
import * as PresetCopy from "@dsh/compose/PresetCopy"
import * as Effect from "effect/Effect"
import * as AgentPresets from "../AgentPresets.ts"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"

/** Prints the folder of the copy. */
export const run = (from: string, to: string): Command =>
  AgentPresets.local(
    Effect.gen(function* () {
      const output = yield* Output
      const folder = yield* PresetCopy.copy(yield* AgentPresets.sources, from, to)
      yield* output.print(folder)
      output.notice(`edit agent.yml there, then: dsh preset validate ${to} && dsh run --preset ${to} "…"`)
      return ExitCode.completed
    })
  )
