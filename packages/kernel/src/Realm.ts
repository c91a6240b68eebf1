/**
 * Realms: a child `Context` in which every registry and extension point is provided again by a fork of its own.
 *
 * A fork sees what its parent holds and adds what is registered in the realm; nothing registered in a realm is visible to its
 * parent or its siblings, and all of it ends with the realm's Scope. Root, preset and agent are realms of one chain.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"

/** Key of the method that makes a service forkable. */
export const Fork: unique symbol = Symbol.for("@dsh/kernel/Realm/Fork")
export type Fork = typeof Fork

/** A service that a realm provides again. `Self` is the service's own shape. */
export interface Forkable<Self> {
  readonly [Fork]: () => Self
}

const isForkable = (service: unknown): service is Forkable<unknown> =>
  typeof service === "object" && service !== null && Fork in service

/**
 * `parent` with every forkable service replaced by a fork of it. Plain services are shared; scope and span are left out, for they
 * belong to whoever runs in the realm.
 */
export const fork = <R>(parent: Context.Context<R>): Context.Context<R> => {
  const services = new Map<string, unknown>()
  for (const [key, service] of parent.unsafeMap) {
    if (key === Scope.Scope.key || key === Tracer.ParentSpan.key) continue
    services.set(key, isForkable(service) ? service[Fork]() : service)
  }
  return Context.unsafeMake(services)
}

/** Runs `effect` in a realm of its own: what it registers is gone for everybody else. */
export const within = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.mapInputContext(effect, (context: Context.Context<R>) => Context.merge(context, fork(context)))

/** Gives an effect back the services of the caller, apart from those that were provided since. */
export interface Restore {
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E>
}

const unchanged: Restore = (effect) => effect

/** The services of a registrant, and those of them that it keeps wherever it is dispatched. */
interface World {
  readonly given: ReadonlyMap<string, unknown>
  readonly own: ReadonlyMap<string, unknown>
}

const worldOf = (registrant: ReadonlyMap<string, unknown>): World => {
  const given = new Map<string, unknown>()
  const own = new Map<string, unknown>()
  for (const [key, service] of registrant) {
    if (key === Tracer.ParentSpan.key) continue
    given.set(key, service)
    if (key !== Scope.Scope.key && !isForkable(service)) own.set(key, service)
  }
  return { given, own }
}

const missesNothing = ({ given, own }: World, caller: ReadonlyMap<string, unknown>): boolean => {
  for (const [key, service] of own) if (caller.get(key) !== service) return false
  for (const key of given.keys()) if (!caller.has(key)) return false
  return true
}

/**
 * Runs an effect with the services of whoever registered it, seen from where it is dispatched: registries and extension points are
 * those of the dispatching realm, scope and parent span those of the caller, everything else the registrant's own.
 *
 * `body` gets `restore`: what a middleware wraps belongs to the caller.
 */
export const withRegistrant = <R>(registrant: Context.Context<R>) => {
  // Most of what is registered is never dispatched, and there are many services.
  let world: World | undefined
  return <A, E>(body: (restore: Restore) => Effect.Effect<A, E, R>): Effect.Effect<A, E> =>
    Effect.contextWithEffect((caller: Context.Context<never>) => {
      world ??= worldOf(registrant.unsafeMap)
      // Most hooks are dispatched in the very world they were registered in; then there is nothing to switch.
      if (missesNothing(world, caller.unsafeMap)) return body(unchanged) as Effect.Effect<A, E>
      const { given, own } = world
      const inside = new Map([...given, ...caller.unsafeMap, ...own])
      const restore: Restore = (effect) =>
        Effect.mapInputContext(effect, (now: Context.Context<never>) => {
          const restored = new Map(caller.unsafeMap)
          for (const [key, service] of now.unsafeMap) if (inside.get(key) !== service) restored.set(key, service)
          return Context.unsafeMake(restored)
        })
      return Effect.mapInputContext(
        Effect.suspend(() => body(restore)),
        (_: Context.Context<never>) => Context.unsafeMake<R>(inside)
      )
    })
}
