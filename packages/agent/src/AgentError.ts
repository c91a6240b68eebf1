/**
 * What can go wrong with an agent, apart from what its session and its model report.
 */
import * as Data from "effect/Data"

export class AgentError extends Data.TaggedError("AgentError")<{
  readonly code:
    | "AGENT_DISPOSED"
    | "AGENT_BUSY"
    | "AGENT_NOT_FOUND"
    | "INVALID_OPTIONS"
    | "MESSAGE_NOT_PENDING"
    | "MESSAGE_DROPPED"
    | "NO_MODEL"
    | "HOOK_FAILED"
    | "PRESET_UNAVAILABLE"
    /** The end of a turn, of a step or of a tool call could not be logged. Resuming the session puts that right. */
    | "SESSION_BROKEN"
  readonly message: string
  readonly cause?: unknown
}> {}
