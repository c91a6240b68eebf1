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

const kept: Effect.Effect<ReadonlyArray<string>> = Effect.gen(function* () {
  const { credentials, known } = yield* Keys.load
  yield* Effect.forEach(Keys.references, (name) => Effect.ignore(credentials.resolve(name)), { discard: true })
  return [...known()]
}).pipe(
  // Where they cannot be read, nobody has read them for what is told, either.
  Effect.orElseSucceed(() => [])
)

const hide = (secrets: ReadonlyArray<string>) =>
  Effect.map(AmbientEnv, (env) => {
    const all = new Set([...secrets, ...ChildEnv.secrets(env)])
    const longest = [...all].filter(({ length }) => length >= leastLength).sort((a, b) => b.length - a.length)
    return (text: string): string => redact(text, longest)
  })

/** Hides the keys that are set in the environment. */
export const hidingAmbient: Effect.Effect<(text: string) => string> = hide([])

/** Hides the keys that are set somewhere. */
export const hiding: Effect.Effect<(text: string) => string> = Effect.flatMap(kept, hide)
