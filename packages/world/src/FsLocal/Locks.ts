/**
 * One lock per key, which exists only while somebody uses it.
 */
import * as Effect from "effect/Effect"

export interface Locks {
  readonly withLock: (key: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export const make = (): Locks => {
  const held = new Map<string, { readonly semaphore: Effect.Semaphore; users: number }>()

  const enter = (key: string) =>
    Effect.sync(() => {
      const lock = held.get(key) ?? { semaphore: Effect.unsafeMakeSemaphore(1), users: 0 }
      lock.users++
      held.set(key, lock)
      return lock
    })

  return {
    withLock: (key) => (effect) =>
      Effect.acquireUseRelease(
        enter(key),
        (lock) => lock.semaphore.withPermits(1)(effect),
        (lock) =>
          Effect.sync(() => {
            if (--lock.users === 0) held.delete(key)
          })
      )
  }
}
