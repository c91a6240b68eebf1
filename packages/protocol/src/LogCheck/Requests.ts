/**
 * Structural checks of the request header and its companions.
 */
import { count, isFields, name, nested, number, object, objects, list, oneOf, optional, text, yes } from "./Fields.ts"
import type { Fields, Problem } from "./Fields.ts"

const config = (value: Fields): Problem =>
  name(value, "provider") ??
  name(value, "model") ??
  optional(value, "reasoningEffort", name) ??
  optional(value, "temperature", number) ??
  optional(value, "maxTokens", number) ??
  optional(value, "stop", (fields, key) =>
    list(fields, key, (item) => (typeof item === "string" ? undefined : "is not a string"))
  )

const adapterDefaults = (value: Fields): Problem =>
  optional(value, "reasoningEffort", yes) ?? optional(value, "maxTokens", yes)

const wire = (value: Fields): Problem => text(value, "format") ?? optional(value, "options", object)

const tool = (value: Fields): Problem =>
  text(value, "name") ?? text(value, "description") ?? object(value, "parameters")

const epochHeader = (value: Fields): Problem =>
  nested(value, "config", config) ??
  optional(value, "adapterDefaults", (fields, key) => nested(fields, key, adapterDefaults)) ??
  defaultsWithoutField(value) ??
  nested(value, "wire", wire) ??
  optional(value, "system", text) ??
  optional(value, "tools", (fields, key) => objects(fields, key, tool))

// A flag says "the adapter filled this in", so there must be something to have been filled in.
const defaultsWithoutField = (value: Fields): Problem => {
  const { adapterDefaults: flags, config: fields } = value
  if (!isFields(flags) || !isFields(fields)) return undefined
  const dangling = ["reasoningEffort", "maxTokens"].find((key) => flags[key] !== undefined && fields[key] === undefined)
  return dangling === undefined ? undefined : `adapterDefaults marks ${dangling}, which config does not have`
}

const reasons = new Set(["initial", "resume", "change"])

export const requestHeader = (value: Fields): Problem =>
  nested(value, "header", epochHeader) ?? oneOf(value, "reason", reasons)

export const requestContext = (value: Fields): Problem =>
  name(value, "provider") ?? name(value, "model") ?? optional(value, "contextWindow", number)

const sources = new Set(["wire", "neutral"])

export const requestSent = (value: Fields): Problem =>
  count(value, "turn") ??
  count(value, "step") ??
  count(value, "attempt") ??
  count(value, "bytes") ??
  text(value, "sha256") ??
  oneOf(value, "of", sources)
