/**
 * One operation per key at a time, first come, first served. A key that is free is taken without a lock: one thread runs all of this,
 * so a place in a Map is enough, and only who finds somebody there has to wait.
 */
import * as Effect from "effect/Effect"

/** Gives an effect the interruptibility of whoever asked for the operation. */
export interface Restore {
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
}

export interface KeyedLock<K> {
  /** Runs `operation` while nobody else has `key`. Waiting can be interrupted; the operation cannot, apart from what it restores. */
  readonly withLock: <A, E, R>(
    key: K,
    operation: (restore: Restore) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R>
}

/** Of somebody who has a key, or waits for it. */
interface Place {
  /** Tells whoever comes next. */
  onLeave?: () => void
}

export const make = <K>(): KeyedLock<K> => {
  const last = new Map<K, Place>()
  return {
    withLock: (key, operation) =>
      Effect.uninterruptibleMask((restore) => {
        const before = last.get(key)
        const place: Place = {}
        last.set(key, place)
        const leave = () => {
          if (last.get(key) === place) last.delete(key)
          place.onLeave?.()
        }
        const run = () =>
          // Nothing interrupts here, so this is all that Effect.ensuring would do, at a third of its price.
          Effect.matchCauseEffect(
            Effect.suspend(() => operation(restore)),
            {
              onSuccess: (value) => {
                leave()
                return Effect.succeed(value)
              },
              onFailure: (cause) => {
                leave()
                return Effect.failCause(cause)
              }
            }
          )
        if (before === undefined) return run()

        let arrived = false
        const turn = Effect.async<void>((resume) => {
          before.onLeave = () => {
            arrived = true
            resume(Effect.void)
          }
        })
        return Effect.matchCauseEffect(restore(turn), {
          onSuccess: run,
          onFailure: (cause) => {
            // Interrupted: whoever comes next goes on waiting for the one before.
            if (arrived) leave()
            else before.onLeave = leave
            return Effect.failCause(cause)
          }
        })
      })
  }
}
