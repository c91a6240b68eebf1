/**
 * What users set for all of their agents:
 *
 *   agent-default-model: { provider: deepseek-official, model: deepseek-v4-pro, reasoningEffort: max }
 *   agent-presets: { default: standard }
 *   agent-loop: { maxParallelToolCalls: 4 }
 */
import type { Section } from "@dsh/settings/Settings"
import * as Schema from "effect/Schema"

const Name = Schema.NonEmptyTrimmedString

const DefaultModel = Schema.Struct({
  provider: Schema.optionalWith(Name, { exact: true }),
  model: Schema.optionalWith(Name, { exact: true }),
  reasoningEffort: Schema.optionalWith(Name, { exact: true })
})

/** What an agent uses that is made without a model. */
export const defaultModel: Section<typeof DefaultModel.Type, typeof DefaultModel.Encoded> = {
  name: "agent-default-model",
  schema: DefaultModel
}

const Presets = Schema.Struct({ default: Schema.optionalWith(Name, { exact: true }) })

/** What an agent is made of that is made without a preset. */
export const presets: Section<typeof Presets.Type, typeof Presets.Encoded> = { name: "agent-presets", schema: Presets }

const Loop = Schema.Struct({
  maxParallelToolCalls: Schema.optional(
    Schema.Int.pipe(Schema.between(1, 1000)).annotations({
      message: () => ({ message: "is no whole number from 1 to 1000", override: true })
    })
  )
})

/** How the loop goes about its steps. */
export const loop: Section<typeof Loop.Type, typeof Loop.Encoded> = { name: "agent-loop", schema: Loop }
