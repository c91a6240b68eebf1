/**
 * The ordered listeners behind every extension point: scoped, copy-on-write, and layered by realm.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Held from "../Held.ts"

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
    return Held.hold(
      () => {
        if (this.mine.some((other) => other.name === listener.name)) {
          throw new Error(`${this.id}: a hook named "${listener.name}" is already registered here`)
        }
        this.mine = inOrder([...this.mine, listener])
      },
      () => {
        this.mine = this.mine.filter((other) => other !== listener)
      }
    )
  }
}

// Array.prototype.sort is stable, which is what keeps registration order among equals.
const inOrder = <H>(listeners: ReadonlyArray<Listener<H>>): ReadonlyArray<Listener<H>> =>
  [...listeners].sort((a, b) => a.order - b.order)
