/**
 * The one error of the model seam: a stable code, a message a person can act on, and what the provider said.
 */
import type { LlmFailure } from "@dsh/protocol/StreamChunk"
import * as Data from "effect/Data"

/** Codes of failures that a later attempt may not see. */
export const retryableCodes: ReadonlySet<string> = new Set([
  "EMPTY_RESPONSE",
  "RATE_LIMIT",
  "SERVER",
  "TIMEOUT",
  "TRANSPORT",
  "STREAM_CLOSED"
])

export class LlmError extends Data.TaggedError("LlmError")<LlmFailure & { readonly cause?: unknown }> {
  get isRetryable(): boolean {
    return retryableCodes.has(this.code)
  }

  /** The plain form that enters the log. */
  get failure(): LlmFailure {
    return {
      message: this.message,
      code: this.code,
      ...(this.status !== undefined && { status: this.status }),
      ...(this.providerRetryAfterMs !== undefined && { providerRetryAfterMs: this.providerRetryAfterMs }),
      ...(this.requestId !== undefined && { requestId: this.requestId })
    }
  }
}
