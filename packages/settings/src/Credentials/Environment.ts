/**
 * The environment as the current ConfigProvider shows it.
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** Looks each time it is asked, with the provider that is current now. */
export const reader: Effect.Effect<(name: string) => Effect.Effect<string | undefined>> = Effect.configProviderWith(
  (provider) =>
    Effect.succeed((name) =>
      Effect.map(
        // The environment holds nothing but strings.
        Effect.orDie(provider.load(Config.option(Config.string(name)))),
        Option.getOrUndefined
      )
    )
)
