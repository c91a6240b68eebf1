/**
 * "Something may have changed", as plain callbacks, and streams of what it was.
 *
 * Streams are put together by hand: of those who look at settings and keys hardly any listen, and the operators of `Stream` would be
 * loaded by all of them.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** Calls back whenever something may have changed, as long as the Scope is open. */
export type Source = (touch: () => void) => Effect.Effect<void, never, Scope.Scope>

export const never: Source = () => Effect.void

export interface Own {
  readonly source: Source
  /** Something has changed. */
  readonly touch: Effect.Effect<void>
}

/** A source that this process touches itself. */
export const own = (): Own => {
  const listeners = new Set<() => void>()
  return {
    source: (touch) =>
      Effect.acquireRelease(
        Effect.sync(() => void listeners.add(touch)),
        () => Effect.sync(() => listeners.delete(touch))
      ),
    touch: Effect.sync(() => {
      for (const listener of listeners) listener()
    })
  }
}

/** Touches that nobody has waited for yet count as one. */
const make = () => {
  let isTouched = false
  let waiting: (() => void) | undefined
  return {
    touch: (): void => {
      isTouched = true
      waiting?.()
    },
    next: Effect.async<void>((resume) => {
      const take = () => {
        isTouched = false
        waiting = undefined
        resume(Effect.void)
      }
      if (isTouched) return take()
      waiting = take
      return Effect.sync(() => (waiting = undefined))
    }),
    /** Whether it was touched since the last `next`. */
    isTouched: () => isTouched
  }
}

/** Touches that come close together are one, when they are over. */
export const settled =
  (source: Source, millis: number): Source =>
  (touch) =>
    Effect.gen(function* () {
      const pulse = make()
      yield* source(pulse.touch)
      const rest: Effect.Effect<void> = Effect.suspend(() =>
        Effect.flatMap(Effect.sleep(millis), () =>
          pulse.isTouched() ? Effect.zipRight(pulse.next, rest) : Effect.sync(touch)
        )
      )
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(pulse.next, rest)))
    })

/**
 * What is seen after each touch. `begin` looks for the first time and says how to look again, which is done at once when the sources are
 * listened to: what happened in between is not missed.
 */
export const stream = <A>(
  sources: ReadonlyArray<Source>,
  begin: Effect.Effect<Effect.Effect<ReadonlyArray<A>>>
): Stream.Stream<A> =>
  Stream.asyncPush<A>(
    (emit) =>
      Effect.gen(function* () {
        const look = yield* begin
        const pulse = make()
        for (const source of sources) yield* source(pulse.touch)
        pulse.touch()
        const step = Effect.flatMap(Effect.zipRight(pulse.next, look), (seen) => Effect.sync(() => emit.array(seen)))
        yield* Effect.forkScoped(Effect.forever(step))
      }),
    { bufferSize: "unbounded" }
  )
