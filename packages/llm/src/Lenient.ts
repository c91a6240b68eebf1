/**
 * Reading provider JSON by hand: a field that does not fit is absent, never an error.
 */

export type Raw = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Raw =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The object at `value`, or an empty one. */
export const record = (value: unknown): Raw => (isRecord(value) ? value : {})

/** A string that is not empty. */
export const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** An identifier: some providers number what others name. */
export const identifier = (value: unknown): string | undefined =>
  typeof value === "number" && Number.isFinite(value) ? String(value) : text(value)

/** A count of tokens. */
export const count = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.floor(value) : undefined

/** At most `length` characters of `value` on one line, for a message. */
export const excerpt = (value: string, length: number): string => {
  const line = value.trim().replace(/\s+/g, " ")
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`
}
