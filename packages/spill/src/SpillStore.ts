/**
 * The spill seam: texts that are too long for a conversation go to a place from which the agent can fetch parts of them.
 */
import type { CallId, SessionId } from "@dsh/protocol/Ids"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

export class SpillError extends Data.TaggedError("SpillError")<{
  readonly code: "SPILL_FAILED"
  readonly message: string
  readonly cause?: unknown
}> {}

export interface SpillRequest {
  readonly owner: { readonly sessionId: SessionId }
  /** What made the text; `label` tells several texts of one call apart. */
  readonly source: { readonly toolName: string; readonly callId: CallId; readonly label: string }
  /** For people who look at the place; anything. */
  readonly suggestedName: string
  readonly content: string
}

export interface Spilled {
  /** What the agent's tools call it. The same for the same content of one session. */
  readonly locator: string
  readonly bytes: number
  /** How to get at it, in a few words. */
  readonly hint: string
}

export class SpillStore extends Context.Tag("@dsh/spill/SpillStore")<
  SpillStore,
  {
    /** Keeps `content` whole, for as long as its session may ask for it. Fails with `SPILL_FAILED`. */
    readonly saveText: (request: SpillRequest) => Effect.Effect<Spilled, SpillError>
  }
>() {}
