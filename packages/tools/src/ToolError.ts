/**
 * A failure of a tool call that the model reads as an error result.
 */
import * as Data from "effect/Data"

/** `code` is stable and upper-case; `message` says what to do next. */
export class ToolError extends Data.TaggedError("ToolError")<{
  readonly code: string
  readonly message: string
  readonly cause?: unknown
}> {}
