/**
 * What of the environment never gets into a result: keys and tokens that commands do not inherit, but may find all the same.
 */
import { KnownSecrets } from "@dsh/tools/Redaction"
import { AmbientEnv } from "@dsh/world/AmbientEnv"
import * as ChildEnv from "@dsh/world/ChildEnv"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

/** A shorter value would be found in text that has nothing to do with it. */
const leastLength = 12

/** @param keys Those that are used, besides those of the environment. */
export const layer = (keys: ReadonlyArray<Redacted.Redacted>): Layer.Layer<KnownSecrets> =>
  Layer.effect(
    KnownSecrets,
    Effect.map(AmbientEnv, (env) => {
      const secrets = new Set([...keys.map(Redacted.value), ...ChildEnv.secrets(env)])
      // One may be a part of another.
      return [...secrets].filter(({ length }) => length >= leastLength).sort((a, b) => b.length - a.length)
    })
  )
