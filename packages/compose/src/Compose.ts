/**
 * From layers of rows to a graph, and from a graph to running services.
 */
import type { Plugin } from "@dsh/kernel/Plugin"
import type { Key } from "@dsh/kernel/Plugin"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Catalogue, Missing } from "./Catalogue.ts"
import type { CompositionError } from "./CompositionError.ts"
import * as Composing from "./CompositionError.ts"
import * as Composition from "./Composition.ts"
import type { Surroundings } from "./Dynamic.ts"
import { leaves } from "./Graph.ts"
import type { Graph } from "./Graph.ts"
import * as Resolve from "./Resolve.ts"
import type { PatchLayer } from "./Row.ts"
import { stack } from "./Stack.ts"
import type { Stacked } from "./Stack.ts"

/** What rows are made from: for parts that compose again, as presets do. */
export class Means extends Context.Tag("@dsh/compose/Means")<
  Means,
  { readonly catalogue: Catalogue; readonly surroundings: Surroundings }
>() {}

export interface Options {
  readonly layers: ReadonlyArray<PatchLayer>
  readonly means: Means["Type"]
  /** Services that are there before the first row. */
  readonly given?: Context.Context<never>
  /** Keys of services that would be there as well, for what is only checked. */
  readonly supposed?: ReadonlySet<string>
  /** See `Resolve.Input`. */
  readonly isRealm?: boolean
  /** Services that the composition is for, and who wants them: without one of them it makes no sense. */
  readonly needed?: { readonly by: string; readonly keys: ReadonlyArray<Key> }
}

export interface Composed {
  readonly means: Means["Type"]
  readonly graph: Graph
  readonly stacked: Stacked
}

/** Checks everything that can be checked without building. Loads the plugins of rows that are switched on, and no others. */
export const compose = (options: Options): Effect.Effect<Composed, CompositionError> =>
  Effect.gen(function* () {
    const { given = Context.empty(), isRealm = false, layers, means, needed, supposed = [] } = options
    const { catalogue, surroundings } = means
    const stacked = stack(layers)
    const broken = Composing.ofAll(stacked.problems)
    if (broken !== undefined) return yield* broken
    const plugins = new Map<string, Either.Either<Plugin, Missing>>()
    for (const { row } of Resolve.active(stacked.rows, surroundings)) {
      const { name } = row
      if (name !== undefined && !plugins.has(name)) plugins.set(name, yield* Effect.either(catalogue.find(name)))
    }
    const keys = new Set([
      ...given.unsafeMap.keys(),
      ...supposed,
      Composition.Composition.key,
      Composition.RealmComposition.key,
      Means.key
    ])
    const input = { rows: stacked.rows, plugins, known: catalogue.names, surroundings, given: keys, isRealm }
    let resolved = Resolve.resolve(input)
    if (Either.isLeft(resolved) && resolved.left.some(({ code }) => code === "MISSING_SERVICE")) {
      // Now it is worth knowing who would provide it.
      for (const name of catalogue.names) {
        if (!plugins.has(name)) plugins.set(name, yield* Effect.either(catalogue.find(name)))
      }
      resolved = Resolve.resolve(input)
    }
    if (Either.isLeft(resolved)) return yield* Composing.ofAll(resolved.left)!
    const absent = needed && absence(resolved.right, keys, needed, stacked)
    if (absent !== undefined) return yield* absent
    return { graph: resolved.right, means, stacked }
  })

/** Keys of the services that a composition would have outside of its isolated groups, if it were started. */
export const keysOf = ({ nodes }: Graph, given: ReadonlyArray<Key> = []): ReadonlySet<string> =>
  new Set([
    ...nodes.flatMap(({ plugin, realm }) => (realm.length === 0 ? plugin.provides : [])),
    ...[...given, Composition.Composition, Means].map(({ key }) => key)
  ])

const absence = (
  { nodes }: Graph,
  given: ReadonlySet<string>,
  { by, keys }: NonNullable<Options["needed"]>,
  stacked: Stacked
): CompositionError | undefined => {
  const provided = new Set(nodes.flatMap(({ plugin, realm }) => (realm.length === 0 ? plugin.provides : [])))
  const missing = keys.filter(({ key }) => !provided.has(key) && !given.has(key))
  return Composing.ofAll(
    missing.map(({ key }) => {
      const off = leaves(stacked.rows).filter(({ disabled }) => disabled !== undefined && disabled !== false)
      return {
        code: "MISSING_SERVICE",
        place: { source: by },
        reason: `needs ${key}, which no row provides`,
        remedy:
          off.length === 0
            ? "add a row that does"
            : `add a row that does, or enable the one that did: ${off.map(({ id }) => id).join(", ")} are switched off`
      } as const
    })
  )
}

/** Builds it for as long as the current Scope is open. */
export const start = (
  { graph, means }: Pick<Composed, "graph" | "means">,
  given: Context.Context<never> = Context.empty()
) => Composition.make(graph, Context.add(given, Means, means))
