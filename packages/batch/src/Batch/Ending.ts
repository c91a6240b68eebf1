/**
 * Whether a batch is to end before its tasks are done, and why.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

declare module "@dsh/protocol/SessionEvent" {
  interface CancelCauses {
    /** The batch that the agent works for is ended. */
    readonly batch: { readonly code: "CANCELLED" | "BATCH_BUDGET" }
  }
}

export interface Cut {
  readonly reason: "cancelled" | "budget"
  readonly code: "CANCELLED" | "BATCH_BUDGET"
  readonly message: string
}

export class Ending {
  /** Completes when what is under way is to be cancelled. */
  readonly stopped: Effect.Effect<void>
  readonly now: Effect.Effect<void>
  #cut: Cut | undefined

  private constructor(latch: Deferred.Deferred<void>) {
    this.stopped = Deferred.await(latch)
    this.now = Effect.suspend(() => {
      this.#cut ??= {
        reason: "cancelled",
        code: "CANCELLED",
        message: "the batch was ended before the task was done"
      }
      return Deferred.succeed(latch, undefined)
    })
  }

  static readonly make: Effect.Effect<Ending> = Effect.map(Deferred.make<void>(), (latch) => new Ending(latch))

  /** There is no money left: nothing is begun any more. */
  spent(limit: { readonly amount: number; readonly currency: string } | undefined): void {
    const { amount = 0, currency = "" } = limit ?? {}
    this.#cut ??= {
      reason: "budget",
      code: "BATCH_BUDGET",
      message: `the ${amount} ${currency} that the batch may cost are spent; it goes on from here with a higher limit`
    }
  }

  /** Why nothing is begun any more. */
  get cut(): Cut | undefined {
    return this.#cut
  }
}
