/**
 * Reading back what was logged with a result. It may come from an older version or have been edited, so nothing in it is certain.
 */
import type { Json, JsonObject } from "@dsh/kernel/Json"

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A member of `value`, if `value` is an object that has it. */
export const member = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
