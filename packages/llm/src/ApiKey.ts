/**
 * The key of a provider, looked up once per request, so that a rotated one holds from the next request on.
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { LlmError } from "./LlmError.ts"

/** Gives the key, or nothing for servers that need none. */
export type Key = Effect.Effect<Option.Option<Redacted.Redacted>, LlmError>

/**
 * Reads the key from the configuration, such as the environment, with the ConfigProvider that is current now, each time it runs. The
 * inner effect fails with `MISSING_CREDENTIAL` when there is none.
 */
export const fromConfig = (name: string): Effect.Effect<Key> =>
  Effect.configProviderWith((provider) =>
    Effect.succeed(
      provider.load(Config.redacted(name)).pipe(
        Effect.filterOrFail((key) => Redacted.value(key).trim() !== ""),
        Effect.mapBoth({ onFailure: () => missing(name), onSuccess: Option.some })
      )
    )
  )

const missing = (name: string) =>
  new LlmError({
    code: "MISSING_CREDENTIAL",
    message: `no API key: ${name} is not set; set it with \`export ${name}=…\`, or leave its name out for a server that needs none`
  })
