/**
 * Schemas of the request header and its companions.
 */
import * as Schema from "effect/Schema"
import type * as Request from "../Request.ts"
import { Amount, JsonObject, maybe, Name } from "./Values.ts"

export const LlmCallConfig: Schema.Schema<Request.LlmCallConfig> = Schema.Struct({
  provider: Name,
  model: Name,
  reasoningEffort: maybe(Name),
  temperature: maybe(Amount),
  maxTokens: maybe(Amount),
  stop: maybe(Schema.Array(Schema.String))
})

export const ToolSchema: Schema.Schema<Request.ToolSchema> = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  parameters: JsonObject
})

export const WireProfile: Schema.Schema<Request.WireProfile> = Schema.Struct({
  format: Schema.String,
  options: maybe(JsonObject)
})

const Yes = Schema.Literal(true)

export const EpochHeader: Schema.Schema<Request.EpochHeader> = Schema.Struct({
  config: LlmCallConfig,
  adapterDefaults: maybe(Schema.Struct({ reasoningEffort: maybe(Yes), maxTokens: maybe(Yes) })),
  wire: WireProfile,
  system: maybe(Schema.String),
  tools: maybe(Schema.Array(ToolSchema))
})
  .pipe(
    Schema.filter(
      ({ adapterDefaults: flags, config }) =>
        (flags?.reasoningEffort === undefined || config.reasoningEffort !== undefined) &&
        (flags?.maxTokens === undefined || config.maxTokens !== undefined),
      { message: () => "adapterDefaults marks a field that config does not have" }
    )
  )
  .annotations({ identifier: "EpochHeader" })

export const RequestContext: Schema.Schema<Request.RequestContext> = Schema.Struct({
  provider: Name,
  model: Name,
  contextWindow: maybe(Amount)
})
