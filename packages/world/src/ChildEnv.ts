/**
 * What a child process may know of our environment. Commands are written by a model and their output goes back to it, so whatever
 * they can see has to be treated as published.
 */
import type { Env } from "./AmbientEnv.ts"

const secretName = /KEY|PASSWORD|PASSPHRASE|SECRET|TOKEN|CREDENTIAL|(^|_)PAT$/i
// Shorter values ("true", a region, a user name) turn up in innocent variables too.
const tellingLength = 16

const isSecret = (name: string): boolean => secretName.test(name)

/** The values that `scrub` keeps from children because of their names, as far as they are long enough to be told from other text. */
export const secrets = (ambient: Env): ReadonlySet<string> => {
  const values = new Set<string>()
  for (const [name, value] of Object.entries(ambient)) {
    if (value !== undefined && value.length >= tellingLength && isSecret(name)) values.add(value)
  }
  return values
}

/**
 * `ambient` without secrets and without our own `DSH_*` settings. A secret is known by its name; a variable that holds the value of
 * one under another name goes too.
 */
export const scrub = (ambient: Env): Record<string, string> => {
  const known = secrets(ambient)
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(ambient)) {
    if (value === undefined || name.startsWith("DSH_") || isSecret(name) || known.has(value)) continue
    kept[name] = value
  }
  return kept
}

/** `base` with `override` on top, which is trusted as it is; `undefined` removes a variable. */
export const merge = (base: Readonly<Record<string, string>>, override: Env = {}): Record<string, string> => {
  const merged: Record<string, string> = { ...base }
  for (const [name, value] of Object.entries(override)) {
    if (value === undefined) delete merged[name]
    else merged[name] = value
  }
  return merged
}
