/**
 * Keys and addresses as people paste them.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { LlmError } from "../LlmError.ts"

/**
 * The key as it can be sent. A pasted key brings line breaks and typographic characters along, which a header cannot carry: fails with
 * `INVALID_CREDENTIAL`.
 *
 * @param keyName Where the key comes from.
 */
export const usable = (apiKey: Redacted.Redacted, keyName: string): Effect.Effect<Redacted.Redacted, LlmError> => {
  const key = Redacted.value(apiKey).trim()
  return /^[\x21-\x7e]+$/.test(key)
    ? Effect.succeed(Redacted.make(key))
    : Effect.fail(
        new LlmError({
          code: "INVALID_CREDENTIAL",
          message: `the API key in ${keyName} is empty or holds characters that cannot be sent; copy it again`
        })
      )
}

/** Without the slashes at its end. */
export const strip = (url: string): string => url.trim().replace(/\/+$/, "")
