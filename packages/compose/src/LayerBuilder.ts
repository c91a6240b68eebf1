/**
 * Builds a Layer in the fiber that asks for it, its parts one after the other.
 *
 * The builder of `effect` makes a deferred, two references and a scope per Layer, forks a fiber for each side of a merge
 * and acquires, uses and releases a context for each provision. In code that runs for the first time this takes 10 ms for
 * fifty nodes, a sixth of what Node needs to start. A composition that only wires services together needs none of it.
 *
 * What differs: Layers that wait are not built at the same time, and finalizers run strictly in reverse order. The
 * shape of a Layer is internal to `effect`, so every kind that is not known here is left to its own builder.
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { YieldWrap } from "effect/Utils"

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

  /**
   * Leaves the fiber with whatever context it had last. A generator: of the nodes only those that run something are effects, and what the
   * others do is done between two of them.
   */
  *build<A, E, R>(layer: Layer.Layer<A, E, R>, context: Context.Context<R>): Building<A, E> {
    const known = this.built.get(layer)
    if (known !== undefined) return known as Context.Context<A>
    const services = yield* this.run(layer, context)
    this.built.set(layer, services)
    return services
  }

  private *run<A, E, R>(layer: Layer.Layer<A, E, R>, context: Context.Context<R>): Building<A, E> {
    if (!isKnown<A, E, R>(layer)) return yield* within(context, Layer.buildWithScope(layer, this.scope))
    switch (layer._op_layer) {
      case "FromEffect":
        return yield* within(context, layer.effect)
      case "Scoped":
        return yield* within(Context.add(context, Scope.Scope, this.scope), layer.effect)
      case "Suspend":
        return yield* this.build(layer.evaluate(), context)
      case "MergeAll": {
        const contexts: Array<Context.Context<never>> = []
        for (const each of layer.layers) contexts.push(yield* this.build(each, context))
        return Context.mergeAll(...contexts) as Context.Context<A>
      }
      case "Provide":
        return yield* this.build(layer.second, yield* this.build(layer.first, context))
      case "ProvideMerge":
      case "ZipWith": {
        const first = yield* this.build(layer.first, context)
        return layer.zipK(first, yield* this.build(layer.second, context))
      }
      case "Fold": {
        const exit = yield* Effect.exit(Effect.gen(() => this.build(layer.layer, context)))
        return yield* this.build(
          exit._tag === "Success" ? layer.successK(exit.value) : layer.failureK(exit.cause),
          context
        )
      }
    }
  }
}

/** An effect while it is put together: what it yields is run. */
type Building<A, E> = Generator<YieldWrap<Effect.Effect<unknown, E>>, Context.Context<A>>

/** Nothing is put back: the next step sets a context of its own, and `provide` restores the first. */
const within = <A, E, R>(context: Context.Context<R>, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E> =>
  Effect.zipRight(
    FiberRef.set(FiberRef.currentContext, context as Context.Context<never>),
    effect as Effect.Effect<A, E>
  )

/** As `Layer.buildWithScope`. What the Layer opens is closed with the Scope. */
export const build = <A, E, R>(
  layer: Layer.Layer<A, E, R>,
  scope: Scope.Scope,
  context: Context.Context<R>
): Effect.Effect<Context.Context<A>, E> =>
  Effect.provide(
    Effect.gen(() => new Builder(scope).build(layer, context)),
    context
  )

/** As `Effect.provide(layer)`: builds the Layer, runs the effect with it, closes what the Layer opened. */
export const provide =
  <A, E, R>(layer: Layer.Layer<A, E, R>) =>
  <B, E2, R2>(self: Effect.Effect<B, E2, R2>): Effect.Effect<B, E | E2, R | Exclude<R2, A>> =>
    Effect.scopedWith((scope) =>
      Effect.contextWithEffect((outside: Context.Context<R>) =>
        Effect.flatMap(build(layer, scope, outside), (context) => Effect.provide(self, context))
      )
    )
