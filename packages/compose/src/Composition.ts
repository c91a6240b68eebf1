/**
 * A running composition: rows that were built, each in a Scope of its own, and the services they provide.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type { CompositionError } from "./CompositionError.ts"
import * as Composing from "./CompositionError.ts"
import * as Building from "./Composition/Building.ts"
import * as Difference from "./Composition/Difference.ts"
import type { Graph, Node } from "./Graph.ts"

export class Composition extends Context.Tag("@dsh/compose/Composition")<
  Composition,
  {
    /** The rows that run, in the order in which they were built. */
    readonly rows: () => ReadonlyArray<Node>
    /** What was there before the first row, and what the rows outside of isolated groups provide now. */
    readonly context: () => Context.Context<never>
    /**
     * Becomes another composition: closes the rows that are gone or different and those that depend on them, and builds what is new,
     * in that order. Everything else goes on. When a row cannot be built, what was there before is built again, and this fails.
     */
    readonly change: (graph: Graph) => Effect.Effect<Difference.Summary, CompositionError>
  }
>() {}

/**
 * The composition of the realm that a row is in, such as a preset. A Tag of its own: what was registered outside finds the same services
 * when it is dispatched inside, and has nothing to switch.
 */
export class RealmComposition extends Context.Tag("@dsh/compose/RealmComposition")<
  RealmComposition,
  Composition["Type"]
>() {}

/** By which Tag rows find the composition they are in, over what is there already. */
export const tagFor = (given: Context.Context<never>): typeof Composition | typeof RealmComposition =>
  given.unsafeMap.has(Composition.key) ? RealmComposition : Composition

/** Rows that a change does not touch keep their Scope; rows of a graph that fails are taken down in reverse order. */
export const make = (
  graph: Graph,
  given: Context.Context<never>
): Effect.Effect<Composition["Type"], CompositionError, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const lock = Effect.unsafeMakeSemaphore(1)
    const rows = new Building.Rows()

    const composition: Composition["Type"] = Composition.of({
      rows: () => rows.nodes(),
      context: () => rows.contextOf([], outside),
      change: (next) =>
        lock.withPermits(1)(
          Effect.uninterruptible(
            Effect.gen(function* () {
              const before = { nodes: rows.nodes() }
              const difference = Difference.between(before, next)
              yield* rows.close(difference.closed)
              const failure = yield* rows.build(next, outside)
              if (failure === undefined) return Difference.summary(difference)
              yield* rows.close(Difference.between({ nodes: rows.nodes() }, before).closed)
              // They were built before; if the world has changed meanwhile, that is reported, too.
              const again = yield* rows.build(before, outside)
              return yield* again === undefined ? failure : Composing.ofAll([...failure.problems, ...again.problems])!
            })
          )
        )
    })
    const outside = Context.unsafeMake<never>(new Map(given.unsafeMap).set(tagFor(given).key, composition))

    yield* Scope.addFinalizer(scope, rows.closeAll)
    const failure = yield* rows.build(graph, outside)
    if (failure !== undefined) return yield* failure
    return composition
  })
