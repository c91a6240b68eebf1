/**
 * Synchronous listeners, each held for as long as a Scope is open.
 */
import * as Held from "@dsh/kernel/Held"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** In a box of its own each, for one function may listen twice, and each time ends with its own Scope. */
export type Listening<A> = Set<{ readonly listener: A }>

/** Adds `listener` for as long as the current Scope is open. */
export const hold = <A>(listening: Listening<A>, listener: A): Effect.Effect<void, never, Scope.Scope> =>
  Effect.suspend(() => {
    const box = { listener }
    return Held.hold(
      () => void listening.add(box),
      () => listening.delete(box)
    )
  })

/** Calls everyone who listens now; succeeds with what they threw. */
export const tell = <A>(listening: Listening<A>, call: (listener: A) => void): ReadonlyArray<unknown> => {
  const failures: Array<unknown> = []
  for (const { listener } of [...listening]) {
    try {
      call(listener)
    } catch (error) {
      failures.push(error)
    }
  }
  return failures
}
