/**
 * What is made when it is needed for the first time, for the sake of those who never need it: a program starts with less to load.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

/**
 * An effect that runs `effect` once, for everybody: who waits for it may be interrupted, and the next one waits for the same. It has the
 * services that are here, and what it opens is closed with the current Scope.
 */
export const once = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<Effect.Effect<A, E>, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const context = yield* Effect.context<R>()
    const scope = yield* Effect.scope
    const done = yield* Deferred.make<A, E>()
    const whole = Effect.mapInputContext(effect, (_: Context.Context<never>) =>
      Context.add(context, Scope.Scope, scope)
    )
    let isStarted = false
    const start = Effect.suspend(() => {
      if (isStarted) return Effect.void
      isStarted = true
      return Effect.forkIn(Effect.intoDeferred(whole, done), scope)
    })
    return Effect.zipRight(Effect.uninterruptible(start), Deferred.await(done))
  })

type Method = (...args: ReadonlyArray<never>) => Effect.Effect<unknown, unknown, unknown>

type Methods<Service> = { readonly [Name in keyof Service]: Method }

/**
 * A service of nothing but methods that return effects, whose Layer is loaded and built when the first of them runs. What cannot be
 * loaded is a defect: it is a part of the program.
 */
export const layer = <Id, Service extends Methods<Service>, R>(
  tag: Context.Tag<Id, Service>,
  names: ReadonlyArray<keyof Service>,
  load: () => Promise<Layer.Layer<Id, never, R>>
): Layer.Layer<Id, never, R> =>
  Layer.scoped(
    tag,
    Effect.gen(function* () {
      const built = yield* once(
        Effect.flatMap(Effect.promise(load), (loaded) =>
          Effect.flatMap(Effect.scope, (scope) => Layer.buildWithScope(loaded, scope))
        )
      )
      const service = Effect.map(built, (context) => Context.get(context, tag))
      const late =
        (name: keyof Service): Method =>
        (...args) =>
          Effect.flatMap(service, (real) => real[name](...args))
      return Object.fromEntries(names.map((name) => [name, late(name)])) as unknown as Service
    })
  )
