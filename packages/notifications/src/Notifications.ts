/**
 * Telling a person who looks elsewhere that something is over, or waits for them.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

export interface News {
  /** `approval`: somebody has to decide before it goes on. */
  readonly event: "completed" | "failed" | "approval"
  /** One line. */
  readonly message: string
  readonly sessionId: string | undefined
  /** Absolute. */
  readonly cwd: string
  /** How long it took, in milliseconds. */
  readonly durationMs: number
}

export class Notifications extends Context.Tag("@dsh/notifications/Notifications")<
  Notifications,
  {
    /**
     * Tells it in the ways that are set, unless it took less time than is worth telling; approvals are always told. Succeeds with what did
     * not work, in a sentence for people. Bounded in time.
     */
    readonly tell: (news: News) => Effect.Effect<string | undefined>
  }
>() {}
