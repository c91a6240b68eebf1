/**
 * Reading what search providers answer: a field that does not fit is absent, a page that nobody can fetch is none.
 */
import * as Lenient from "@dsh/llm/Lenient"
import type { Source } from "./Web.ts"

/** The array at `value`, or an empty one. */
export const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** The objects in it. */
export const records = (value: unknown): ReadonlyArray<Lenient.Raw> => list(value).filter(Lenient.isRecord)

/** The address of a page, in its one form. */
export const pageUrl = (value: unknown): string | undefined => {
  const text = Lenient.text(value)
  if (text === undefined || !URL.canParse(text)) return undefined
  const { href, protocol } = new URL(text)
  return protocol === "http:" || protocol === "https:" ? href : undefined
}

/** A source, or nothing where it has no page. */
export const source = (fields: Partial<Record<keyof Source, unknown>>): ReadonlyArray<Source> => {
  const url = pageUrl(fields.url)
  if (url === undefined) return []
  const title = Lenient.text(fields.title)
  const snippet = Lenient.text(fields.snippet)
  const publishedAt = Lenient.text(fields.publishedAt)
  return [
    {
      url,
      ...(title !== undefined && { title }),
      ...(snippet !== undefined && { snippet }),
      ...(publishedAt !== undefined && { publishedAt })
    }
  ]
}
