/**
 * What the model reads of a program: what it printed, then what it returned.
 */
import type { Json } from "@dsh/kernel/Json"

export const nothing = "The program completed and gave out nothing: return a value, or print with console.log."

export const render = (logs: ReadonlyArray<string>, result: Json | undefined): string => {
  const parts = [...logs, ...(result === undefined ? [] : [typeof result === "string" ? result : pretty(result, "")])]
  const text = parts.join("\n")
  return text === "" ? nothing : text
}

const step = "  "
/** Deeper than this an indent says less than it takes. */
const widest = 10

/** As `JSON.stringify(value, null, 2)` writes it, but compact where it is deep. */
const pretty = (value: Json, indent: string): string => {
  const inner = indent + step
  if (typeof value !== "object" || value === null || inner.length > widest) return JSON.stringify(value)
  const [open, close] = Array.isArray(value) ? "[]" : "{}"
  const members = Array.isArray(value)
    ? value.map((item: Json) => pretty(item, inner))
    : Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${pretty(member, inner)}`)
  if (members.length === 0) return `${open}${close}`
  return `${open}\n${members.map((member) => inner + member).join(",\n")}\n${indent}${close}`
}
