/**
 * Scoped, named registrations. A name can be taken once per layer of realms, the nearest layer wins, and closing the Scope that
 * registered an entry removes exactly that entry.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Held from "./Held.ts"
import * as Realm from "./Realm.ts"

export type Change<A> =
  | { readonly _tag: "Added"; readonly name: string; readonly value: A }
  | { readonly _tag: "Removed"; readonly name: string; readonly value: A }

/** The name is already registered in this layer. */
export class DuplicateName extends Data.TaggedError("DuplicateName")<{
  readonly registry: string
  readonly name: string
}> {
  readonly code = "DUPLICATE_NAME"
  override get message(): string {
    return `"${this.name}" is already registered in ${this.registry}; remove one of the two or rename it`
  }
}

export interface Registry<A> extends Realm.Forkable<Registry<A>> {
  readonly id: string
  /** Adds `value` for as long as the current Scope is open. */
  readonly register: (name: string, value: A) => Effect.Effect<void, DuplicateName, Scope.Scope>
  /** The nearest entry of that name. */
  readonly get: (name: string) => Option.Option<A>
  /** Every visible entry: outer layers first, insertion order inside a layer, shadowed entries left out. */
  readonly entries: () => ReadonlyArray<readonly [name: string, value: A]>
  /** The entries of this layer alone. */
  readonly own: () => ReadonlyArray<readonly [name: string, value: A]>
  /** Grows with every change that can be seen from here: a cheap key for caches. */
  readonly version: () => number
  /** Changes of this layer and of the layers it sees, from the moment the stream runs. */
  readonly changes: Stream.Stream<Change<A>>
}

type Listener<A> = (change: Change<A>) => void

class Layered<A> implements Registry<A> {
  readonly id: string
  readonly parent: Layered<A> | undefined
  // A Map keeps insertion order; it is never iterated while it is being changed.
  readonly entriesByName = new Map<string, { readonly value: A }>()
  readonly listeners = new Set<Listener<A>>()
  changed = 0

  constructor(id: string, parent: Layered<A> | undefined) {
    this.id = id
    this.parent = parent
  }

  readonly [Realm.Fork] = (): Registry<A> => new Layered<A>(this.id, this)

  readonly register = (name: string, value: A): Effect.Effect<void, DuplicateName, Scope.Scope> => {
    const entry = { value }
    return Held.claim(
      () => {
        if (this.entriesByName.has(name)) return new DuplicateName({ registry: this.id, name })
        this.entriesByName.set(name, entry)
        this.publish({ _tag: "Added", name, value })
        return undefined
      },
      () => {
        // Identity, not name: a successor of the same name must survive.
        if (this.entriesByName.get(name) !== entry) return
        this.entriesByName.delete(name)
        this.publish({ _tag: "Removed", name, value })
      }
    )
  }

  readonly get = (name: string): Option.Option<A> => {
    for (let at: Layered<A> | undefined = this; at !== undefined; at = at.parent) {
      const entry = at.entriesByName.get(name)
      if (entry !== undefined) return Option.some(entry.value)
    }
    return Option.none()
  }

  readonly own = (): ReadonlyArray<readonly [string, A]> =>
    Array.from(this.entriesByName, ([name, entry]) => [name, entry.value] as const)

  readonly entries = (): ReadonlyArray<readonly [string, A]> => {
    if (this.parent === undefined) return this.own()
    const outer = this.parent.entries().filter(([name]) => !this.entriesByName.has(name))
    return this.entriesByName.size === 0 ? outer : [...outer, ...this.own()]
  }

  readonly version = (): number => this.changed + (this.parent?.version() ?? 0)

  get changes(): Stream.Stream<Change<A>> {
    return Stream.asyncPush<Change<A>>((emit) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const listener: Listener<A> = (change) => void emit.single(change)
          for (let at: Layered<A> | undefined = this; at !== undefined; at = at.parent) at.listeners.add(listener)
          return listener
        }),
        (listener) =>
          Effect.sync(() => {
            for (let at: Layered<A> | undefined = this; at !== undefined; at = at.parent) at.listeners.delete(listener)
          })
      )
    )
  }

  private publish(change: Change<A>): void {
    this.changed++
    for (const listener of [...this.listeners]) listener(change)
  }
}

/** An empty registry. `id` names it in errors. */
export const make = <A>(id: string): Registry<A> => new Layered<A>(id, undefined)
