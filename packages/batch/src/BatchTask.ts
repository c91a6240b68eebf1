/**
 * One task of a batch: what to do, where, as what kind of agent, and what it may use up. In a file it is one line of JSON.
 */
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as Span from "./Span.ts"

const says = (what: string) => ({ message: () => ({ message: `is not ${what}`, override: true }) })

const Text = Schema.String.pipe(
  Schema.filter((text) => text.trim() !== ""),
  Schema.annotations(says("a text that says something"))
)

const Count = Schema.Int.pipe(Schema.positive(), Schema.annotations(says("a whole number above 0")))

const Amount = Schema.Number.pipe(Schema.positive(), Schema.annotations(says("an amount above 0")))

const Cost = Schema.Struct({ amount: Amount, currency: Schema.optionalWith(Text, { default: () => "USD" }) })

const optional = { exact: true } as const

/** What a task may use up, over all of its attempts; what is left out is not rationed. */
const Budget = Schema.Struct({
  /** Requests to the model. */
  steps: Schema.optionalWith(Count, optional),
  tokens: Schema.optionalWith(Count, optional),
  cost: Schema.optionalWith(Cost, optional),
  timeout: Schema.optionalWith(Span.Span, optional)
})

const Variables = Schema.Record({
  key: Schema.String.pipe(
    Schema.pattern(/^(?!DSH_)[A-Za-z_][A-Za-z0-9_]*$/),
    Schema.annotations(says("the name of a variable that is yours to set"))
  ),
  value: Schema.String.annotations(says("a text"))
})

/** The fields of a line. */
export const Fields = Schema.Struct({
  /** Unique in its batch; at most 200 characters. Default: `task-` and the number of the line. */
  id: Schema.optionalWith(Text.pipe(Schema.maxLength(200, says("a text of at most 200 characters"))), optional),
  task: Text,
  /** Against the folder of the batch. */
  cwd: Schema.optionalWith(Text, optional),
  preset: Schema.optionalWith(Text, optional),
  model: Schema.optionalWith(Text, optional),
  /** The session to go on with, or to begin under that id. */
  sessionId: Schema.optionalWith(Text, optional),
  permission: Schema.optionalWith(Text, optional),
  budget: Schema.optionalWith(Budget, optional),
  /** For the commands of the agent, on top of what they have anyway. */
  env: Schema.optionalWith(Variables, optional)
})

export type Fields = typeof Fields.Type

export interface BatchTask extends Fields {
  readonly id: string
  /** In its file, from 1. */
  readonly line?: number
}

/** Equal for tasks that ask for the same. */
export const digest = ({ line: _, ...fields }: BatchTask): string =>
  createHash("sha256")
    .update(JSON.stringify(sorted(fields)))
    .digest("hex")
    .slice(0, 32)

const sorted = (value: unknown): unknown =>
  typeof value !== "object" || value === null
    ? value
    : Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, inner]) => [key, sorted(inner)])
