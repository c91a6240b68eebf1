/**
 * `dsh preset validate`: all that is wrong with a preset, found without starting anything.
 */
import { CompositionError, showProblem } from "@dsh/compose/CompositionError"
import * as Composing from "@dsh/compose/CompositionError"
import { idPattern, idRule } from "@dsh/compose/Preset"
import * as Presets from "@dsh/compose/Presets"
import type { Host, Sources } from "@dsh/compose/Presets"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { basename, resolve } from "node:path"
import * as AgentPresets from "../AgentPresets.ts"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"

/** @param preset An id or the path of a folder, as typed; undefined for all presets. */
export const run = (preset: string | undefined): Command =>
  AgentPresets.local(
    Effect.gen(function* () {
      const output = yield* Output
      const sources = yield* AgentPresets.sources
      const host = yield* AgentPresets.host
      const judged = yield* preset === undefined
        ? Effect.map(Presets.list(sources, host), (listed) =>
            listed.map(({ error, info }) => ({ id: info.id, problems: error?.problems ?? [] }))
          )
        : Effect.map(judge(sources, host, preset), (one) => [one])
      if (preset === undefined) for (const notice of yield* Presets.ignored(sources)) output.notice(notice)
      const lines = judged.flatMap(({ id, problems }) =>
        problems.length === 0 ? [`preset ${id} can be used`] : problems.map(showProblem)
      )
      yield* output.print(lines.join("\n"))
      return judged.every(({ problems }) => problems.length === 0) ? ExitCode.completed : ExitCode.configuration
    })
  )

const judge = (sources: Sources, host: Host, preset: string) =>
  Effect.gen(function* () {
    const isPath = /[/\\]|^\.{1,2}$/.test(preset)
    const id = isPath ? basename(resolve(preset)) : preset
    const fit = isPath ? inFolder(resolve(preset)) : Presets.find(sources, preset)
    const problems = yield* fit.pipe(
      Effect.flatMap((written) => Presets.chain(sources, written)),
      Effect.flatMap((chain) => Presets.compose(chain, host)),
      Effect.match({ onFailure: ({ problems }) => problems, onSuccess: () => [] })
    )
    return { id, problems }
  })

const inFolder = (folder: string): Effect.Effect<Presets.Written, CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const id = basename(folder)
    if (idPattern.test(id)) return yield* Presets.read({ id, folder })
    return yield* Composing.of({
      code: "INVALID_PRESET",
      place: { source: folder },
      reason: "the name of the folder is no id of a preset",
      remedy: idRule
    })
  })
