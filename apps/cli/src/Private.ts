/**
 * Keeps keys out of what is told of the configuration, wherever somebody may have written them.
 */
import { redact } from "@dsh/tools/Redaction"
import { AmbientEnv } from "@dsh/world/AmbientEnv"
import * as ChildEnv from "@dsh/world/ChildEnv"
import * as Effect from "effect/Effect"
import * as Keys from "./Keys.ts"

/** A shorter value would be found in text that has nothing to do with it. */
const leastLength = 12

/** Hides the keys that are set somewhere; one that cannot be looked up is known to nobody. */
export const hiding: Effect.Effect<(text: string) => string> = Effect.gen(function* () {
  const keys = yield* Effect.option(Keys.load)
  if (keys._tag === "Some") {
    const { credentials } = keys.value
    yield* Effect.forEach(Keys.references, (name) => Effect.ignore(credentials.resolve(name)), { discard: true })
  }
  const known = keys._tag === "Some" ? keys.value.known() : []
  const secrets = new Set([...known, ...ChildEnv.secrets(yield* AmbientEnv)])
  const longest = [...secrets].filter(({ length }) => length >= leastLength).sort((a, b) => b.length - a.length)
  return (text) => redact(text, longest)
})
