/**
 * `Effect.provide` for the composition of a short command: builds the same Layers one after the other, in one fiber.
 *
 * The builder of `effect` makes a deferred, two references and a scope per Layer and forks a fiber for each side of a
 * merge. In code that runs for the first time this takes 0.25 ms a node, and the agent of `dsh run` has over a hundred:
 * a third of the time from start to first request. A composition that only wires services together needs none of it.
 *
 * What differs: Layers that wait are not built at the same time, and finalizers run strictly in reverse order. The
 * shape of a Layer is internal to `effect`, so every kind that is not known here is left to its own builder.
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

type Node<A, E, R> =
  | { readonly _op_layer: "FromEffect"; readonly effect: Effect.Effect<Context.Context<A>, E, R> }
  | { readonly _op_layer: "Scoped"; readonly effect: Effect.Effect<Context.Context<A>, E, R | Scope.Scope> }
  | { readonly _op_layer: "Suspend"; readonly evaluate: () => Layer.Layer<A, E, R> }
  | { readonly _op_layer: "MergeAll"; readonly layers: ReadonlyArray<Layer.Layer<A, E, R>> }
  | {
      readonly _op_layer: "Provide"
      readonly first: Layer.Layer<unknown, E, R>
      readonly second: Layer.Layer<A, E, unknown>
    }
  | {
      readonly _op_layer: "ProvideMerge" | "ZipWith"
      readonly first: Layer.Layer<unknown, E, R>
      readonly second: Layer.Layer<unknown, E, R>
      readonly zipK: (first: Context.Context<unknown>, second: Context.Context<unknown>) => Context.Context<A>
    }
  | {
      readonly _op_layer: "Fold"
      readonly layer: Layer.Layer<unknown, unknown, R>
      readonly failureK: (cause: Cause.Cause<unknown>) => Layer.Layer<A, E, R>
      readonly successK: (context: Context.Context<unknown>) => Layer.Layer<A, E, R>
    }

const known = new Set(["FromEffect", "Scoped", "Suspend", "MergeAll", "Provide", "ProvideMerge", "ZipWith", "Fold"])

const isKnown = <A, E, R>(layer: Layer.Layer<A, E, R> | Node<A, E, R>): layer is Node<A, E, R> =>
  "_op_layer" in layer && known.has(layer._op_layer)

/** One composition under construction. A Layer that is used in several places is built once. */
class Builder {
  private readonly built = new Map<Layer.Layer.Any, Context.Context<never>>()
  private readonly scope: Scope.Scope

  constructor(scope: Scope.Scope) {
    this.scope = scope
  }

  build<A, E, R>(layer: Layer.Layer<A, E, R>): Effect.Effect<Context.Context<A>, E, R> {
    return Effect.suspend(() => {
      const context = this.built.get(layer)
      if (context !== undefined) return Effect.succeed(context as Context.Context<A>)
      return Effect.map(this.run(layer), (context) => {
        this.built.set(layer, context)
        return context
      })
    })
  }

  private run<A, E, R>(layer: Layer.Layer<A, E, R>): Effect.Effect<Context.Context<A>, E, R> {
    if (!isKnown<A, E, R>(layer)) return Layer.buildWithScope(layer, this.scope)
    switch (layer._op_layer) {
      case "FromEffect":
        return layer.effect
      case "Scoped":
        return Scope.extend(layer.effect, this.scope)
      case "Suspend":
        return this.build(layer.evaluate())
      case "MergeAll":
        return Effect.map(
          Effect.forEach(layer.layers, (each) => this.build(each)),
          (contexts) => Context.mergeAll(...contexts) as Context.Context<A>
        )
      case "Provide":
        return Effect.flatMap(this.build(layer.first), (first) =>
          Effect.mapInputContext(this.build(layer.second), () => first)
        )
      case "ProvideMerge":
      case "ZipWith":
        return Effect.flatMap(this.build(layer.first), (first) =>
          Effect.map(this.build(layer.second), (second) => layer.zipK(first, second))
        )
      case "Fold":
        return Effect.matchCauseEffect(this.build(layer.layer), {
          onFailure: (cause) => this.build(layer.failureK(cause)),
          onSuccess: (context) => this.build(layer.successK(context))
        })
    }
  }
}

/** As `Effect.provide(layer)`: builds the Layer, runs the effect with it, closes what the Layer opened. */
export const provide =
  <A, E, R>(layer: Layer.Layer<A, E, R>) =>
  <B, E2, R2>(self: Effect.Effect<B, E2, R2>): Effect.Effect<B, E | E2, R | Exclude<R2, A>> =>
    Effect.scopedWith((scope) =>
      Effect.flatMap(new Builder(scope).build(layer), (context) => Effect.provide(self, context))
    )
