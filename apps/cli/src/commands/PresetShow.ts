/**
 * `dsh preset show ID`: what people are told of a preset, where it is, and the rows it is made of.
 */
import { showPlace } from "@dsh/compose/CompositionError"
import * as Presets from "@dsh/compose/Presets"
import type { Row } from "@dsh/compose/Row"
import * as Effect from "effect/Effect"
import * as AgentPresets from "../AgentPresets.ts"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"

/**
 * @param id As typed; it may name nothing.
 * @param json One JSON object, for programs.
 */
export const run = (id: string, json: boolean): Command =>
  AgentPresets.local(
    Effect.gen(function* () {
      const output = yield* Output
      const sources = yield* AgentPresets.sources
      const written = yield* Presets.find(sources, id)
      const { folder = `${yield* sources.shippedFolder}/${id}`, preset } = written
      const chain = yield* Presets.chain(sources, written)
      if (json) {
        const parts = chain.map((each) => ({ preset: each.preset.id, rows: each.preset.rows.map(toJson) }))
        const trust = written.folder === undefined ? "system" : "user"
        const { description, name } = preset
        yield* output.print(JSON.stringify({ id, name, trust, description, folder, parts }))
        return ExitCode.completed
      }
      const about = [
        `${id}  ${preset.name}  (${written.folder === undefined ? "system" : "user"})`,
        ...(preset.description === undefined ? [] : [preset.description]),
        `in ${folder}`
      ]
      // What it extends comes first, as its rows do.
      const parts = chain.map((each) => {
        const title = each === written ? "rows" : `rows of ${each.preset.id}, which it extends`
        const source = each.folder === undefined ? `preset ${each.preset.id}` : `${each.folder}/agent.yml`
        return [`${title}:`, ...each.preset.rows.flatMap((row) => toText(row, source, "  "))].join("\n")
      })
      yield* output.print([about.join("\n"), ...parts].join("\n\n"))
      return ExitCode.completed
    })
  )

const toText = ({ disabled, group, id, isolate, line, name }: Row, source: string, indent: string): Array<string> => {
  const what = name ?? (isolate === true ? "a group, whose services are its own" : "a group")
  const off = disabled === undefined || disabled === false ? "" : disabled === true ? ", off" : ", off at times"
  const where = line === undefined ? "" : `  (${showPlace({ source, line })})`
  return [
    `${indent}${id}  ${what}${off}${where}`,
    ...(group ?? []).flatMap((row) => toText(row, source, `${indent}  `))
  ]
}

// JSON.stringify leaves out what is not known. What is decided at the start, as by a variable, is only said to be so.
const toJson = ({ disabled, group, id, line, name }: Row): object => ({
  id,
  name,
  disabled: disabled === undefined || typeof disabled === "boolean" ? disabled : "dynamic",
  line,
  rows: group?.map(toJson)
})
