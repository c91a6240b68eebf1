/**
 * A composition that can be built: its rows in order, each with its plugin, its configuration, and what has to come before it.
 */
import type { Part, Plugin } from "@dsh/kernel/Plugin"
import type * as Either from "effect/Either"
import type { Missing } from "./Catalogue.ts"
import type { Surroundings } from "./Dynamic.ts"
import type { Placed } from "./Stack.ts"

/** A row that will be built. */
export interface Node {
  readonly row: Placed
  readonly plugin: Plugin
  readonly part: Part
  /** Its configuration, with every dynamic value in place: two nodes of one plugin with equal ones are the same. */
  readonly config: unknown
  /** Ids of the isolated groups it is in, outermost first. */
  readonly realm: ReadonlyArray<string>
  /** Ids of the rows that have to be built before it. */
  readonly after: ReadonlyArray<string>
}

export interface Graph {
  /** In the order in which they are built. */
  readonly nodes: ReadonlyArray<Node>
}

export interface Input {
  readonly rows: ReadonlyArray<Placed>
  readonly plugins: ReadonlyMap<string, Either.Either<Plugin, Missing>>
  /** Names for those who mistyped one. */
  readonly known: ReadonlyArray<string>
  readonly surroundings: Surroundings
  /** Keys of the services that are there already. */
  readonly given: ReadonlySet<string>
  /** A service may only be provided in an isolated group: the rule of presets. */
  readonly isRealm?: boolean
}

/** Every row that is no group, switched off or not. */
export const leaves = (rows: ReadonlyArray<Placed>): ReadonlyArray<Placed> =>
  rows.flatMap((row) => (row.children === undefined ? [row] : leaves(row.children)))
