/**
 * What became of a task. It is what a batch prints and what its journal keeps, so it is a Schema.
 */
import * as Schema from "effect/Schema"

const optional = { exact: true } as const

const Usage = Schema.Struct({
  requests: Schema.Number,
  /** Requests that nobody reported the usage of. */
  unreported: Schema.Number,
  input: Schema.Number,
  cacheRead: Schema.Number,
  cacheWrite: Schema.Number,
  output: Schema.Number,
  reasoning: Schema.Number
})

const Cost = Schema.Struct({
  /** By currency. */
  amounts: Schema.Record({ key: Schema.String, value: Schema.Number }),
  /** Requests that are in none of the amounts. */
  unknown: Schema.Number
})

export const statuses = ["completed", "failed", "cancelled"] as const

export const finishReasons = [
  "completed",
  /** The answer was cut at the output limit of the model. */
  "max-tokens",
  "error",
  /** A hook refused the task. */
  "blocked",
  /** What the task may use up is used up. */
  "budget",
  /** The agent went round in circles. */
  "repetition",
  "aborted",
  /** The batch ended before the task did. */
  "cancelled"
] as const

export const BatchResult = Schema.Struct({
  id: Schema.String,
  /** Absent when it was never begun. */
  sessionId: Schema.optionalWith(Schema.String, optional),
  status: Schema.Literal(...statuses),
  finishReason: Schema.Literal(...finishReasons),
  /** The last text that is not empty; may be there whatever the status is. */
  finalResponse: Schema.String,
  usage: Usage,
  /** Absent where nobody keeps prices. */
  cost: Schema.optionalWith(Cost, optional),
  /** What `dsh run` would have ended with. */
  exitCode: Schema.Number,
  /** How often the agent was set to it, crashes included. */
  attempts: Schema.Number,
  /** Of the attempts of this process. */
  durationMs: Schema.Number,
  /** Why it is not completed. */
  error: Schema.optionalWith(Schema.Struct({ code: Schema.String, message: Schema.String }), optional),
  /** Where its changes are kept, when it worked in a folder of its own. */
  folder: Schema.optionalWith(Schema.String, optional)
})

export type BatchResult = typeof BatchResult.Type
