/**
 * What of the environment never gets into a result: keys and tokens that commands do not inherit, but may find all the same.
 */
import { KnownSecrets } from "@dsh/tools/Redaction"
import { AmbientEnv } from "@dsh/world/AmbientEnv"
import * as ChildEnv from "@dsh/world/ChildEnv"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Provider } from "./Environment.ts"

/** A shorter value would be found in text that has nothing to do with it. */
const leastLength = 12

/** @param provider Whose keys are used, besides those of the environment: the ones of now and of later. */
export const layer = ({ apiKey, keys }: Provider): Layer.Layer<KnownSecrets> =>
  Layer.effect(
    KnownSecrets,
    Effect.map(AmbientEnv, (env) => {
      const ambient = ChildEnv.secrets(env)
      return () => {
        const secrets = new Set([Redacted.value(apiKey), ...(keys?.known() ?? []), ...ambient])
        // One may be a part of another.
        return [...secrets].filter(({ length }) => length >= leastLength).sort((a, b) => b.length - a.length)
      }
    })
  )
