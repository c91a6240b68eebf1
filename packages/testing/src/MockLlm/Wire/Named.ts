/**
 * Events that carry their name twice, as both providers write them that have names for events.
 */

/** A string is sent as it is, without a name. */
export const named = (value: unknown): string => {
  if (typeof value === "string") return `data: ${value}\n\n`
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined
  return `${typeof type === "string" ? `event: ${type}\n` : ""}data: ${JSON.stringify(value)}\n\n`
}
