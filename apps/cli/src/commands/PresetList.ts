/**
 * `dsh preset list`: the kinds of agents there are, and why those that cannot be used cannot.
 */
import type { PresetInfo } from "@dsh/agent/AgentPresets"
import * as Presets from "@dsh/compose/Presets"
import * as Effect from "effect/Effect"
import * as AgentPresets from "../AgentPresets.ts"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"

/** @param json One JSON object per line, for programs. */
export const run = (json: boolean): Command =>
  AgentPresets.local(
    Effect.gen(function* () {
      const output = yield* Output
      const sources = yield* AgentPresets.sources
      const listed = yield* Presets.list(sources, yield* AgentPresets.host)
      for (const notice of yield* Presets.ignored(sources)) output.notice(notice)
      yield* output.print(listed.map(({ info }) => (json ? toJson(info) : toText(info))).join("\n"))
      return ExitCode.completed
    })
  )

const toText = ({ description, id, name, problem, trust }: PresetInfo): string => {
  const line = [id, name, `(${trust})`, ...(description === undefined ? [] : [description])].join("  ")
  return problem === undefined ? line : `${line}\n  cannot be used: ${problem.replaceAll("\n", "\n  ")}`
}

// JSON.stringify leaves out what is not known.
const toJson = ({ description, folder, id, name, problem, trust }: PresetInfo): string =>
  JSON.stringify({ id, name, trust, description, folder, problem })
