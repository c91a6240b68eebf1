/**
 * Where plugins come from by their names.
 */
import type { Plugin } from "@dsh/kernel/Plugin"
import * as Effect from "effect/Effect"
import type { Problem } from "./CompositionError.ts"

/** Why there is no plugin of that name. */
export type Missing = Pick<Problem, "code" | "reason" | "remedy">

export interface Catalogue {
  /** Loads no more than the module of that plugin. */
  readonly find: (name: string) => Effect.Effect<Plugin, Missing>
  /** The names it knows, for those who mistyped one. */
  readonly names: ReadonlyArray<string>
}

/** The same with some plugins of one's own, which come first. */
export const including = (catalogue: Catalogue, plugins: ReadonlyArray<Plugin>): Catalogue => {
  const own = new Map(plugins.map((plugin) => [plugin.name, plugin]))
  return {
    names: [...own.keys(), ...catalogue.names],
    find: (name) => {
      const plugin = own.get(name)
      return plugin === undefined ? catalogue.find(name) : Effect.succeed(plugin)
    }
  }
}
