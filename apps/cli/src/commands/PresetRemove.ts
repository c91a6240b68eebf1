/**
 * `dsh preset remove ID`: takes a preset of the user's away for good. Asks first, unless told not to.
 */
import * as PresetCopy from "@dsh/compose/PresetCopy"
import * as Effect from "effect/Effect"
import * as AgentPresets from "../AgentPresets.ts"
import * as Confirm from "../Confirm.ts"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import { Output } from "../Output.ts"

/** @param id As typed; it may name nothing. */
export const run = (id: string, yes: boolean): Command =>
  AgentPresets.local(
    Effect.gen(function* () {
      const output = yield* Output
      const sources = yield* AgentPresets.sources
      // Whether it can be removed is found out before anybody is asked.
      const folder = yield* PresetCopy.removable(sources, id)
      if (!yes) {
        const answer = yield* Confirm.ask(`remove the preset ${id} (${folder})?`)
        if (answer === undefined) {
          return yield* Failure.usage(`nobody can be asked here; "dsh preset remove ${id} --yes" does not ask`)
        }
        if (!answer) {
          output.notice("nothing was removed")
          return ExitCode.failed
        }
      }
      yield* PresetCopy.remove(sources, id)
      output.notice(`the preset ${id} is removed`)
      return ExitCode.completed
    })
  )
