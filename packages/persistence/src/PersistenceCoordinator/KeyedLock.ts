/**
 * One lock per key, there only while somebody holds or awaits it. First come, first served.
 */
import * as Effect from "effect/Effect"

export interface KeyedLock<K> {
  readonly withLock: (key: K) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export const make = <K>(): KeyedLock<K> => {
  const locks = new Map<K, { readonly semaphore: Effect.Semaphore; users: number }>()
  return {
    withLock: (key) => (effect) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          let lock = locks.get(key)
          if (lock === undefined) {
            lock = { semaphore: Effect.unsafeMakeSemaphore(1), users: 0 }
            locks.set(key, lock)
          }
          lock.users++
          return lock
        }),
        ({ semaphore }) => semaphore.withPermits(1)(effect),
        (lock) =>
          Effect.sync(() => {
            if (--lock.users === 0) locks.delete(key)
          })
      )
  }
}
