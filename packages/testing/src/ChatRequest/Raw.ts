/**
 * Reading JSON of which nothing is known: what does not fit is empty.
 */

export type Raw = Readonly<Record<string, unknown>>

/** True for a JSON object, false for arrays and scalars. */
export const isRecord = (value: unknown): value is Raw =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const record = (value: unknown): Raw => (isRecord(value) ? value : {})
export const array = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
export const string = (value: unknown): string => (typeof value === "string" ? value : "")

/** The text of a message: as it is, or the texts of its parts. */
export const text = (content: unknown): string =>
  typeof content === "string"
    ? content
    : array(content)
        .map((part) => string(record(part).text))
        .join("")
