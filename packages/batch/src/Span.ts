/**
 * Spans of time as people write them: `90s`, `10m`, `1h30m`, `1.5h`, `500ms`.
 */
import * as Schema from "effect/Schema"

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const part = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g

export const wanted = "a time above 0 such as 90s, 10m or 1h30m"

/** What a timer can wait for. */
const longest = 2 ** 31 - 1

/** Milliseconds, seconds where there is no unit; undefined for what is no span, an empty one, or one of more than 24 days. */
export const parse = (text: string): number | undefined => {
  const written = /^\d+(\.\d+)?$/.test(text) ? `${text}s` : text
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(written)) return undefined
  let millis = 0
  for (const [, count, unit] of written.matchAll(part)) millis += Number(count) * units[unit as keyof typeof units]
  const rounded = Math.round(millis)
  return rounded > 0 && rounded <= longest ? rounded : undefined
}

/** A span in a file. */
export const Span = Schema.String.pipe(
  Schema.filter((text) => parse(text) !== undefined || `is "${text}"; it is ${wanted}`)
)

/** For people: `850 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`. */
export const show = (millis: number): string => {
  if (millis < 1000) return `${Math.round(millis)} ms`
  if (millis < 60_000) return `${(millis / 1000).toFixed(1)} s`
  const seconds = Math.round(millis / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}
