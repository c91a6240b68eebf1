/**
 * From the way a turn ended to what a result says of it.
 */
import { retryableCodes } from "@dsh/llm/LlmError"
import type { TurnEndReason } from "@dsh/protocol/SessionEvent"
import * as Cause from "effect/Cause"
import * as Either from "effect/Either"
import type { BatchResult } from "../BatchResult.ts"
import type { Cut } from "./Ending.ts"

export type Outcome = Pick<BatchResult, "status" | "finishReason" | "exitCode" | "error">

const failed = (finishReason: BatchResult["finishReason"], code: string, message: string, exitCode = 1): Outcome => ({
  status: "failed",
  finishReason,
  exitCode,
  error: { code, message }
})

export const cancelled = ({ code, message, reason }: Cut): Outcome => ({
  status: "cancelled",
  finishReason: reason,
  exitCode: reason === "budget" ? 124 : 1,
  error: { code, message }
})

export const ofReason = (reason: TurnEndReason): Outcome => {
  switch (reason.kind) {
    case "completed":
      return { status: "completed", finishReason: "completed", exitCode: 0 }
    case "error":
      return failed("error", reason.error.code, reason.error.message)
    case "max-tokens":
      return failed("max-tokens", "MAX_TOKENS", "the answer hit the output limit of the model and is cut; ask for less")
    case "blocked":
      return failed("blocked", "BLOCKED", "a hook refused the task")
    case "aborted":
      return ofCancel(reason.reason)
    case "interrupted":
      return failed("aborted", "INTERRUPTED", "the turn was interrupted before it was complete")
  }
}

const ofCancel = (cause: Extract<TurnEndReason, { kind: "aborted" }>["reason"]): Outcome => {
  switch (cause.kind) {
    case "budget": {
      const { limit, of, unit, unpriced } = cause
      const message =
        unpriced === undefined
          ? `the budget of ${limit} ${unit ?? (of === "time" ? "ms" : of)} is spent; give the task more, or less to do`
          : `nobody knows what ${unpriced} costs in ${unit}, so its cost cannot be limited; keep a price for it in the settings`
      return failed("budget", "BUDGET", message, 124)
    }
    case "repetition":
      return failed(
        "repetition",
        "REPETITION",
        `the agent made the same calls (${cause.tools.join(", ")}) ${cause.times} times in a row and their results never changed`
      )
    case "hook":
      return failed("aborted", "ABORTED", `the turn was cancelled: ${cause.reason}`)
    default:
      return failed("aborted", "ABORTED", "the turn was cancelled before it was complete")
  }
}

/** What kept an agent from being set to its task at all. */
export const ofCause = (cause: Cause.Cause<{ readonly code: string; readonly message: string }>): Outcome =>
  Either.match(Cause.failureOrCause(cause), {
    onLeft: ({ code, message }) => failed("error", code, message, settings.has(code) ? 3 : 1),
    onRight: (defect) => failed("error", "INTERNAL", Cause.pretty(defect))
  })

/** The error in it, if that is what it is. */
export const failureOf = <E>(cause: Cause.Cause<E>): E | undefined =>
  Either.match(Cause.failureOrCause(cause), { onLeft: (error) => error, onRight: () => undefined })

/** What somebody has to set up first. */
const settings = new Set(["PRESET_UNAVAILABLE", "INVALID_OPTIONS", "NOT_A_REPOSITORY", "UNKNOWN_PRESET"])

/** Whether it may be otherwise next time. */
export const mayPass = (reason: TurnEndReason): boolean =>
  reason.kind === "error" && retryableCodes.has(reason.error.code)

/** Whether it was ended for reasons that have nothing to do with the task: then it goes on when it is taken up again. */
export const wasCut = (reason: TurnEndReason): boolean =>
  reason.kind === "interrupted" || (reason.kind === "aborted" && cuts.has(reason.reason.kind))

const cuts = new Set(["batch", "disposed", "user"])
