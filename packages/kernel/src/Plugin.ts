/**
 * The manifest of a part that can be named in configuration: its options, the services it provides and needs, and the Layer that makes it.
 *
 *   export default Plugin.make({
 *     name: "greeting",
 *     config: Schema.Struct({ word: Schema.optionalWith(Schema.String, { default: () => "hello" }) }),
 *     requires: [SystemPrompt],
 *     layer: ({ word }) => SystemPrompt.layerSection({ name: "greeting", order: 100, text: word })
 *   })
 *
 * The compiler holds the Layer against the lists: one that needs or provides something else than they say does not type-check. What can
 * be checked before anything is built, is checked from the lists alone.
 */
import * as Either from "effect/Either"
import type * as Layer from "effect/Layer"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"

const TypeId: unique symbol = Symbol.for("@dsh/kernel/Plugin")

/** A `Context.Tag` of whatever service. */
export interface Key<out Id = unknown> {
  readonly key: string
  readonly Identifier: Id
}

type Ids<Keys extends ReadonlyArray<Key>> = Keys[number]["Identifier"]

/** A manifest as its author writes it. */
export interface Definition<
  C,
  I,
  Provides extends ReadonlyArray<Key>,
  Requires extends ReadonlyArray<Key>,
  Uses extends ReadonlyArray<Key>
> {
  /** The module it is loaded from: `@dsh/shell/BashTool`, or the name of a package. */
  readonly name: string
  /** One sentence for listings. */
  readonly description?: string
  /** What may be configured, and what counts when it is not. Left out: nothing may. */
  readonly config?: Schema.Schema<C, I>
  /** Services that others find by their Tag. */
  readonly provides?: Provides
  /** Services that have to be there. */
  readonly requires?: Requires
  /** Services that it asks for with `Effect.serviceOption`: if they are there, they are there before it. */
  readonly uses?: Uses
  readonly layer: (config: C) => Layer.Layer<Ids<Provides>, unknown, Ids<Requires> | Ids<Uses>>
}

/** A manifest with its types taken care of. */
export interface Plugin {
  readonly [TypeId]: typeof TypeId
  readonly name: string
  readonly description: string | undefined
  readonly config: Schema.Schema.AnyNoContext | undefined
  /** Keys of Tags. */
  readonly provides: ReadonlyArray<string>
  readonly requires: ReadonlyArray<string>
  readonly uses: ReadonlyArray<string>
  /** The Layer for a configuration as it was written. An unknown option is an error. */
  readonly configure: (config: unknown) => Either.Either<Part, ParseResult.ParseError>
}

/** A Layer whose services are known by the lists of its manifest. */
export type Part = Layer.Layer<never, unknown, unknown>

const keysOf = (keys: ReadonlyArray<Key> | undefined): ReadonlyArray<string> => (keys ?? []).map(({ key }) => key)

export const make = <
  C = unknown,
  I = C,
  const Provides extends ReadonlyArray<Key> = readonly [],
  const Requires extends ReadonlyArray<Key> = readonly [],
  const Uses extends ReadonlyArray<Key> = readonly []
>(
  definition: Definition<C, I, Provides, Requires, Uses>
): Plugin => {
  const { config, description, name } = definition
  // Without a schema C is inferred from nothing, and no configuration but the empty one is let through.
  const schema = (config ?? none) as Schema.Schema<C, unknown>
  return {
    [TypeId]: TypeId,
    name,
    description,
    config: config as Schema.Schema.AnyNoContext | undefined,
    provides: keysOf(definition.provides),
    requires: keysOf(definition.requires),
    uses: keysOf(definition.uses),
    configure: (written) =>
      Either.map(Schema.decodeUnknownEither(schema, { onExcessProperty: "error" })(written), definition.layer)
  }
}

/** No options. */
const none = Schema.Struct({})

export const isPlugin = (value: unknown): value is Plugin =>
  typeof value === "object" && value !== null && TypeId in value
