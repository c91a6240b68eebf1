/**
 * The presets there are and the composition they have to fit, for those who look at them or write one.
 */
import * as Context from "effect/Context"
import type { Node } from "./Graph.ts"
import type { Host, Sources } from "./Presets.ts"

export class PresetLibrary extends Context.Tag("@dsh/compose/PresetLibrary")<
  PresetLibrary,
  {
    readonly sources: Sources
    /** As it runs now. */
    readonly host: () => Host
    /** The rows that run outside of presets. */
    readonly rows: () => ReadonlyArray<Node>
  }
>() {}
