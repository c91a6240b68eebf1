/**
 * Registrations: something that is there for as long as a Scope is open.
 *
 * `Effect.acquireRelease` does this for resources that take effects to open and to close, and takes thirty effects itself. A
 * registration is two steps of plain code, and a program makes dozens of them before it does anything else.
 */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"

/** `enter` now, `leave` when the current Scope closes. */
export const hold = (enter: () => void, leave: () => void): Effect.Effect<void, never, Scope.Scope> =>
  claim<never>(() => void enter(), leave)

/** The same for what may be refused: then `enter` changes nothing and returns the error. */
export const claim = <E>(enter: () => E | undefined, leave: () => void): Effect.Effect<void, E, Scope.Scope> =>
  Effect.uninterruptible(
    Effect.scopeWith((scope) => {
      const refusal = enter()
      return refusal === undefined ? Scope.addFinalizer(scope, Effect.sync(leave)) : Effect.fail(refusal)
    })
  )
