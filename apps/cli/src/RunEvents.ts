/**
 * What `dsh run --json` prints: one JSON object per line, `start` first and `result` last. Programs rely on it, so it has a version, a
 * page in the docs and a JSON Schema beside it. A new field or a new type of line is no new version; readers skip what they do not know.
 */
import * as Schema from "effect/Schema"

/** Changes when a line that was there before is left out or means something else. */
const version = 1

const time = Schema.Number.annotations({ description: "Epoch milliseconds." })
const at = { time, turn: Schema.Number, step: Schema.Number }
const Problem = Schema.Struct({
  code: Schema.String.annotations({ description: "Stable and upper-case." }),
  message: Schema.String
})

const Start = Schema.Struct({
  type: Schema.Literal("start"),
  version: Schema.Literal(version),
  time,
  sessionId: Schema.String,
  cwd: Schema.NullOr(Schema.String),
  resumed: Schema.Boolean.annotations({ description: "Whether the session had something in it before." })
}).annotations({ identifier: "Start", description: "The run begins. The first line of every run that came to that." })

const Reasoning = Schema.Struct({ type: Schema.Literal("reasoning"), ...at, text: Schema.String }).annotations({
  identifier: "Reasoning",
  description: "What the model thought before it answered."
})

const Message = Schema.Struct({
  type: Schema.Literal("message"),
  ...at,
  text: Schema.String,
  interrupted: Schema.Boolean.annotations({ description: "It was cut off." })
}).annotations({ identifier: "Message", description: "What the model said." })

const ToolCall = Schema.Struct({
  type: Schema.Literal("tool-call"),
  ...at,
  callId: Schema.String,
  name: Schema.String,
  arguments: Schema.String.annotations({ description: "As the model wrote them: JSON, mostly." })
}).annotations({ identifier: "ToolCall", description: "A tool is called." })

const ToolResult = Schema.Struct({
  type: Schema.Literal("tool-result"),
  ...at,
  callId: Schema.String,
  name: Schema.String,
  ok: Schema.Boolean,
  text: Schema.String.annotations({ description: "As the model reads it." }),
  code: Schema.NullOr(Schema.String).annotations({ description: "Of the error." })
}).annotations({ identifier: "ToolResult", description: "What came of the call." })

const Denied = Schema.Struct({
  type: Schema.Literal("denied"),
  time,
  callId: Schema.NullOr(Schema.String),
  ...Problem.fields
}).annotations({ identifier: "Denied", description: "A call was not allowed, or nobody was there to allow it." })

const Retry = Schema.Struct({
  type: Schema.Literal("retry"),
  time,
  delayMs: Schema.Number,
  error: Problem
}).annotations({ identifier: "Retry", description: "A request failed and is tried again after a while." })

const TurnEnd = Schema.Struct({
  type: Schema.Literal("turn-end"),
  time,
  turn: Schema.Number,
  reason: Schema.Struct({ kind: Schema.String }, { key: Schema.String, value: Schema.Unknown }).annotations({
    description: "As in the session log: completed, max-tokens, aborted with its cause, error, blocked."
  })
}).annotations({ identifier: "TurnEnd", description: "A turn is over." })

const Notice = Schema.Struct({ type: Schema.Literal("notice"), time, message: Schema.String }).annotations({
  identifier: "Notice",
  description: "Something to know, for people."
})

const Count = Schema.Number

const Result = Schema.Struct({
  type: Schema.Literal("result"),
  version: Schema.Literal(version),
  time,
  sessionId: Schema.NullOr(Schema.String).annotations({ description: "Null when it did not come to a session." }),
  status: Schema.Literal("completed", "failed", "budget", "cancelled"),
  exitCode: Schema.Number.annotations({ description: "Of the process." }),
  answer: Schema.String.annotations({ description: "The last text of this run; empty when there was none." }),
  output: Schema.optional(Schema.Unknown).annotations({ description: "With --output-schema: the answer, as JSON." }),
  usage: Schema.Struct({
    requests: Count,
    unreported: Count.annotations({ description: "Requests that nobody reported the usage of." }),
    inputTokens: Count.annotations({ description: "Not from the provider's cache." }),
    cacheReadTokens: Count,
    cacheWriteTokens: Count,
    outputTokens: Count,
    reasoningTokens: Count.annotations({ description: "Part of outputTokens." })
  }),
  cost: Schema.Struct({
    amounts: Schema.Record({ key: Schema.String, value: Schema.Number }).annotations({ description: "By currency." }),
    unknown: Count.annotations({ description: "Requests that are in none of the amounts." })
  }),
  toolCalls: Schema.Struct({ total: Count, denied: Count }),
  unfinishedJobs: Schema.Array(Schema.String).annotations({
    description: "Work in the background that was ended with the run."
  }),
  error: Schema.optional(Problem)
}).annotations({ identifier: "Result", description: "How it ended. The last line of every run." })

export const Line = Schema.Union(
  Start,
  Reasoning,
  Message,
  ToolCall,
  ToolResult,
  Denied,
  Retry,
  TurnEnd,
  Notice,
  Result
)
export type Line = typeof Line.Encoded
