/**
 * How a run ended: what people and scripts are told, and the exit code.
 */
import type { Rationed } from "@dsh/agent/Budgets"
import type { CancelCause, TurnEndReason } from "@dsh/protocol/SessionEvent"
import * as ExitCode from "./ExitCode.ts"
import { unpriced } from "./Limits.ts"

export interface Problem {
  readonly code: string
  readonly message: string
}

export const exitCode = (reason: TurnEndReason): ExitCode.ExitCode => {
  if (reason.kind === "completed") return ExitCode.completed
  // A key that the provider refuses is as good as none.
  if (reason.kind === "error" && reason.error.code === "AUTH") return ExitCode.configuration
  return reason.kind === "aborted" && reason.reason.kind === "budget" ? ExitCode.budget : ExitCode.failed
}

/** Nothing for a run that was completed. */
export const problem = (reason: TurnEndReason): Problem | undefined => {
  switch (reason.kind) {
    case "completed":
      return undefined
    case "error":
      return reason.error
    case "max-tokens":
      return {
        code: "MAX_TOKENS",
        message: "the answer hit the output limit of the model and is cut; ask for less at once"
      }
    case "blocked":
      return { code: "BLOCKED", message: "a hook refused the task" }
    case "aborted":
      return aborted(reason.reason)
    case "interrupted":
      return { code: "INTERRUPTED", message: "the turn was interrupted before it was complete" }
  }
}

const aborted = (cause: CancelCause): Problem => {
  switch (cause.kind) {
    case "budget":
      return {
        code: "BUDGET",
        message:
          cause.unpriced === undefined
            ? `the budget of ${amount(cause.of, cause.limit, cause.unit)} is spent; "dsh run --continue" goes on from here`
            : unpriced(cause.unpriced, cause.unit ?? "")
      }
    case "repetition": {
      const { times, tools } = cause
      return {
        code: "REPETITION",
        message: `the agent was stopped because it made the same calls (${tools.join(", ")}) ${times} times in a row and their results never changed; "dsh run --continue" goes on from here: say what to do otherwise`
      }
    }
    default:
      return { code: "ABORTED", message: "the turn was cancelled before it was complete" }
  }
}

const amount = (of: Rationed, limit: number, unit = ""): string => {
  switch (of) {
    case "time":
      return `${limit / 1000} seconds`
    case "cost":
      return `${limit} ${unit}`
    default:
      return `${limit} ${of}`
  }
}
