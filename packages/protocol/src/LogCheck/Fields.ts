/**
 * The small vocabulary of structural checks. A check answers with what is wrong, or with nothing; it allocates only when something is
 * wrong, for it runs on every line of a log.
 */

/** A JSON object whose members are not known yet. */
export interface Fields {
  readonly [key: string]: unknown
}

/** What is wrong, in words that follow "the event is invalid: ". */
export type Problem = string | undefined

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

export const text = (fields: Fields, key: string): Problem =>
  typeof fields[key] === "string" ? undefined : `${key} is not a string`

export const name = (fields: Fields, key: string): Problem =>
  typeof fields[key] === "string" && fields[key] !== "" ? undefined : `${key} is not a non-empty string`

export const flag = (fields: Fields, key: string): Problem =>
  typeof fields[key] === "boolean" ? undefined : `${key} is not a boolean`

export const yes = (fields: Fields, key: string): Problem => (fields[key] === true ? undefined : `${key} is not true`)

export const count = (fields: Fields, key: string): Problem =>
  isCount(fields[key]) ? undefined : `${key} is not a non-negative whole number`

export const number = (fields: Fields, key: string): Problem =>
  typeof fields[key] === "number" ? undefined : `${key} is not a number`

export const present = (fields: Fields, key: string): Problem =>
  fields[key] === undefined ? `${key} is missing` : undefined

export const object = (fields: Fields, key: string): Problem =>
  isFields(fields[key]) ? undefined : `${key} is not an object`

export const oneOf = (fields: Fields, key: string, allowed: ReadonlySet<unknown>): Problem =>
  allowed.has(fields[key]) ? undefined : `${key} is none of ${[...allowed].join(", ")}`

/** `check`, when the member is there. */
export const optional = (fields: Fields, key: string, check: (fields: Fields, key: string) => Problem): Problem =>
  fields[key] === undefined ? undefined : check(fields, key)

/** The member is an object and passes `check`. */
export const nested = (fields: Fields, key: string, check: (value: Fields) => Problem): Problem => {
  const value = fields[key]
  if (!isFields(value)) return `${key} is not an object`
  const problem = check(value)
  return problem === undefined ? undefined : `${key}: ${problem}`
}

/** The member is an array whose items all pass `check`. */
export const list = (fields: Fields, key: string, check: (item: unknown) => Problem): Problem => {
  const value = fields[key]
  if (!Array.isArray(value)) return `${key} is not an array`
  for (let i = 0; i < value.length; i++) {
    const problem = check(value[i])
    if (problem !== undefined) return `${key}[${i}]: ${problem}`
  }
  return undefined
}

/** The member is an array of objects that all pass `check`. */
export const objects = (fields: Fields, key: string, check: (item: Fields) => Problem): Problem =>
  list(fields, key, (item) => (isFields(item) ? check(item) : "is not an object"))
