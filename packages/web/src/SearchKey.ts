/**
 * The key of a search provider, looked up for each search, so that a new one holds from the next one on.
 */
import { Credentials } from "@dsh/settings/Credentials"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { WebError } from "./WebError.ts"

/** Undefined where there is none. */
export type Lookup = Effect.Effect<Redacted.Redacted | undefined, WebError>

export interface SearchKey {
  readonly available: Effect.Effect<boolean>
  /** Fails with `WEB_PROVIDER_CREDENTIAL_MISSING`. */
  readonly get: Effect.Effect<Redacted.Redacted, WebError>
}

/** From the credentials, where there are any, else from the configuration. */
export const standing = (name: string): Effect.Effect<Lookup> =>
  Effect.flatMap(Effect.serviceOption(Credentials), (credentials) =>
    Option.isNone(credentials)
      ? fromConfig(name)
      : Effect.succeed(
          Effect.mapBoth(credentials.value.resolve(name), {
            onFailure: (cause) =>
              new WebError({ code: "WEB_PROVIDER_CREDENTIAL_MISSING", message: cause.message, cause }),
            onSuccess: (found) => Option.getOrUndefined(found)?.value
          })
        )
  )

/** From the configuration that is current now, such as the environment. */
export const fromConfig = (name: string): Effect.Effect<Lookup> =>
  Effect.configProviderWith((provider) =>
    Effect.succeed(
      Effect.map(
        Effect.orElseSucceed(provider.load(Config.option(Config.redacted(name))), Option.none<Redacted.Redacted>),
        Option.getOrUndefined
      )
    )
  )

/** @param name Of the setting, for messages. */
export const make = (lookup: Lookup, name: string): SearchKey => {
  // Anything else cannot be sent in a header.
  const found = Effect.map(lookup, (key) => {
    const value = key === undefined ? "" : Redacted.value(key).trim()
    return /^[\x21-\x7E]+$/.test(value) ? Redacted.make(value) : undefined
  })
  return {
    // Why it cannot be had is told to whoever asks for it.
    available: Effect.orElseSucceed(
      Effect.map(found, (key) => key !== undefined),
      () => false
    ),
    get: Effect.flatMap(found, (key) =>
      key === undefined
        ? new WebError({
            code: "WEB_PROVIDER_CREDENTIAL_MISSING",
            message: `${name} is not set, or holds what no key is; set it to the key of the search provider`
          })
        : Effect.succeed(key)
    )
  }
}
