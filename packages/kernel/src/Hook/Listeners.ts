/**
 * The ordered listeners behind every extension point: scoped, copy-on-write, and layered by realm.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import * as Realm from "../Realm.ts"

export interface Options {
  /** Lower runs earlier (in a waterfall: further out). Equal orders keep registration order, outer realms first. Default 0. */
  readonly order?: number | undefined
}

export interface Listener<Handler> {
  readonly name: string
  readonly order: number
  readonly handler: Handler
}

export class Listeners<Handler> {
  readonly id: string
  readonly parent: Listeners<Handler> | undefined
  // Copy-on-write: a dispatch in flight keeps the array it started with, and needs no lock.
  private mine: ReadonlyArray<Listener<Handler>> = []
  private merged: ReadonlyArray<Listener<Handler>> = []
  private mergedFrom: readonly [unknown, unknown] = [undefined, undefined]

  constructor(id: string, parent?: Listeners<Handler>) {
    this.id = id
    this.parent = parent
  }

  /** Outer realms and this one, in dispatch order. */
  all(): ReadonlyArray<Listener<Handler>> {
    if (this.parent === undefined) return this.mine
    const outer = this.parent.all()
    if (this.mine.length === 0) return outer
    if (this.mergedFrom[0] !== outer || this.mergedFrom[1] !== this.mine) {
      this.merged = inOrder([...outer, ...this.mine])
      this.mergedFrom = [outer, this.mine]
    }
    return this.merged
  }

  add(listener: Listener<Handler>): Effect.Effect<void, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.suspend(() => {
        if (this.mine.some((other) => other.name === listener.name)) {
          return Effect.dieMessage(`${this.id}: a hook named "${listener.name}" is already registered here`)
        }
        this.mine = inOrder([...this.mine, listener])
        return Effect.void
      }),
      () =>
        Effect.sync(() => {
          this.mine = this.mine.filter((other) => other !== listener)
        })
    )
  }
}

// Array.prototype.sort is stable, which is what keeps registration order among equals.
const inOrder = <H>(listeners: ReadonlyArray<Listener<H>>): ReadonlyArray<Listener<H>> =>
  [...listeners].sort((a, b) => a.order - b.order)

/**
 * Runs an effect with the services of whoever registered it, seen from where it is dispatched: registries and extension points are
 * those of the dispatching realm, scope and parent span those of the caller, everything else the registrant's own.
 *
 * `body` gets `restore`, which gives an effect the caller's services back: a middleware's `next` belongs to the caller.
 */
export const withRegistrant = <R>(registrant: Context.Context<R>) => {
  const own = new Map<string, unknown>()
  for (const [key, service] of registrant.unsafeMap) {
    if (key !== Scope.Scope.key && key !== Tracer.ParentSpan.key && !isForkable(service)) own.set(key, service)
  }
  return <A, E>(body: (restore: Restore) => Effect.Effect<A, E, R>): Effect.Effect<A, E> =>
    Effect.contextWithEffect((caller: Context.Context<never>) => {
      const services = new Map<string, unknown>(registrant.unsafeMap)
      for (const [key, service] of caller.unsafeMap) services.set(key, service)
      for (const [key, service] of own) services.set(key, service)
      const restore: Restore = (effect) =>
        Effect.mapInputContext(effect, (inside: Context.Context<never>) => {
          const restored = new Map<string, unknown>(inside.unsafeMap)
          for (const [key, service] of own) {
            // What the middleware itself provided to its `next` stays.
            if (restored.get(key) !== service) continue
            if (caller.unsafeMap.has(key)) restored.set(key, caller.unsafeMap.get(key))
            else restored.delete(key)
          }
          return Context.unsafeMake(restored)
        })
      return Effect.mapInputContext(
        Effect.suspend(() => body(restore)),
        (_: Context.Context<never>) => Context.unsafeMake<R>(services)
      )
    })
}

export interface Restore {
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E>
}

const isForkable = (service: unknown): boolean =>
  typeof service === "object" && service !== null && Realm.Fork in service
