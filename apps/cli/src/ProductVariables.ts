/**
 * The variables of the environment that are the product's own.
 */
import { AmbientEnv } from "@dsh/world/AmbientEnv"
import * as Effect from "effect/Effect"
import * as Address from "./Address.ts"

const own = /^(?:DSH|DEEPSEEK|EXA|PERPLEXITY)_/

/** Of other variables of these names nobody knows what is in them. */
const harmless = new Set([
  "DSH_HOME",
  "DSH_MAX_REPEATS",
  "DSH_MAX_RETRIES",
  "DSH_PERMISSION_MODE",
  "DSH_SESSION_STORE",
  "DSH_SNAPSHOT",
  "DSH_SNAPSHOT_FILE",
  "DSH_TOOLS_MODE",
  "DSH_WEB_ALLOW",
  "DSH_WEB_FETCH_PROVIDER",
  "DSH_WEB_SEARCH_PROVIDER"
])

const shown = (name: string, value: string): string | null => {
  if (harmless.has(name)) return value
  return name.endsWith("_BASE_URL") ? Address.parse(value, "environment").shown : null
}

/** Those that are set, by name; null stands for what may be a secret. */
export const set: Effect.Effect<ReadonlyArray<{ readonly name: string; readonly value: string | null }>> = Effect.map(
  AmbientEnv,
  (env) =>
    Object.entries(env)
      .flatMap(([name, value = ""]) => (own.test(name) && value.trim() !== "" ? [[name, value.trim()] as const] : []))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => ({ name, value: shown(name, value) }))
)
