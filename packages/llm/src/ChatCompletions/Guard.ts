/**
 * Looks after the deadlines of all the exchanges of an adapter with one fiber, which sleeps until the nearest one can be reached and
 * is gone when nothing is under way.
 *
 * A fiber for each request would be simpler, and would cost more than the rest of sending it.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"

/** Something with a deadline. */
export interface Watched {
  /** Milliseconds until it has to be looked at again. At 0 it is told that it has expired, and is watched no longer. */
  readonly remaining: () => number
  readonly expire: () => void
}

export class Guard {
  readonly #scope: Scope.Scope
  readonly #watched = new Set<Watched>()
  #fiber: Fiber.RuntimeFiber<void> | undefined
  /** When the fiber wakes, in milliseconds of its clock. */
  #wakesAt = 0

  constructor(scope: Scope.Scope) {
    this.#scope = scope
  }

  /** Watches it from now on, or takes note that its deadline has come nearer. */
  watch(watched: Watched): Effect.Effect<void> {
    return Effect.clockWith((clock) => {
      this.#watched.add(watched)
      if (this.#fiber !== undefined && this.#wakesAt <= clock.unsafeCurrentTimeMillis() + watched.remaining())
        return Effect.void
      this.#fiber?.unsafeInterruptAsFork(FiberId.none)
      return Effect.map(Effect.forkIn(Effect.interruptible(this.#look), this.#scope), (fiber) => {
        this.#fiber = fiber
      })
    })
  }

  forget(watched: Watched): void {
    this.#watched.delete(watched)
  }

  readonly #look: Effect.Effect<void> = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    let nearest = Number.POSITIVE_INFINITY
    for (const watched of this.#watched) {
      const remaining = watched.remaining()
      if (remaining > 0) nearest = Math.min(nearest, remaining)
      else {
        this.#watched.delete(watched)
        watched.expire()
      }
    }
    if (nearest === Number.POSITIVE_INFINITY) {
      this.#fiber = undefined
      return Effect.void
    }
    this.#wakesAt = now + nearest
    return Effect.zipRight(
      Effect.sleep(nearest),
      Effect.suspend(() => this.#look)
    )
  })
}
