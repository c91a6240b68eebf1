/**
 * What is read of JSON in passing: what does not fit is empty.
 */
import { isRecord } from "@dsh/llm/Lenient"
import type { Raw } from "@dsh/llm/Lenient"

export const records = (value: unknown): ReadonlyArray<Raw> => (Array.isArray(value) ? value.filter(isRecord) : [])

export const text = (value: unknown): string => (typeof value === "string" ? value : "")

export const index = (value: unknown): number => (typeof value === "number" && Number.isInteger(value) ? value : 0)

/** The text behind a text that was written as JSON. */
export const unquoted = (value: unknown): unknown => {
  if (typeof value !== "string") return value
  try {
    const inner: unknown = JSON.parse(value)
    return typeof inner === "string" ? inner : value
  } catch {
    return value
  }
}
