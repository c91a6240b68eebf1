/**
 * Variables of the environment.
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** An empty variable is one that is not set. */
export const read = (name: string): Effect.Effect<string | undefined> =>
  Config.option(Config.string(name)).pipe(
    Effect.orDie, // the environment holds nothing but strings
    Effect.map((value) => Option.getOrUndefined(value)?.trim() || undefined)
  )
