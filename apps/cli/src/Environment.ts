/**
 * The environment variables of the command line, read once and checked before anything starts.
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Failure from "./Failure.ts"

export interface Provider {
  readonly apiKey: Redacted.Redacted
  /** Undefined: the provider's own address. */
  readonly baseUrl: string | undefined
}

/** An empty variable is one that is not set. */
const read = (name: string): Effect.Effect<string | undefined> =>
  Config.option(Config.string(name)).pipe(
    Effect.orDie, // the environment holds nothing but strings
    Effect.map((value) => Option.getOrUndefined(value)?.trim() || undefined)
  )

/** How often a failed request is tried again; undefined: as the provider's policy has it. Fails with exit code 3. */
export const maxRetries: Effect.Effect<number | undefined, Failure.Failure> = Effect.flatMap(
  read("DSH_MAX_RETRIES"),
  (value) =>
    value === undefined || /^\d{1,4}$/.test(value)
      ? Effect.succeed(value === undefined ? undefined : Number(value))
      : Failure.configuration("INVALID_CONFIG", `DSH_MAX_RETRIES is "${value}"; it is a number from 0 to 9999`)
)

/** What a run needs to reach the model. Fails with exit code 3. */
export const provider: Effect.Effect<Provider, Failure.Failure> = Effect.gen(function* () {
  const key = yield* read("DEEPSEEK_API_KEY")
  if (key === undefined) {
    return yield* Failure.configuration(
      "MISSING_CREDENTIAL",
      `DEEPSEEK_API_KEY is not set: run it as DEEPSEEK_API_KEY=sk-… dsh run "your task", or try "dsh demo", which needs no key`
    )
  }
  if (!/^[\x21-\x7E]+$/.test(key)) {
    return yield* Failure.configuration(
      "INVALID_CREDENTIAL",
      "DEEPSEEK_API_KEY holds characters that no key has (a space, a line break or a quote from a copied page): set it again"
    )
  }
  return { apiKey: Redacted.make(key), baseUrl: yield* read("DEEPSEEK_BASE_URL") }
})
