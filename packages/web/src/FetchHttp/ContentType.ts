/**
 * What kind of text a response says it is.
 */
export interface ContentType {
  readonly kind: "html" | "text"
  /** XML names its encoding itself. */
  readonly isXml: boolean
  /** As the header names it. */
  readonly charset: string | undefined
}

/** Undefined: nothing that can be shown. */
export const parse = (header: string): ContentType | undefined => {
  const [type = "", ...parameters] = header.split(";").map((part) => part.trim())
  const essence = type.toLowerCase()
  const kind = kindOf(essence)
  if (kind === undefined) return undefined
  const charset = parameters.flatMap((parameter) => /^charset\s*=\s*"?([^"\s]+)/i.exec(parameter)?.[1] ?? [])[0]
  return { kind, isXml: essence.endsWith("xml"), charset }
}

const kindOf = (essence: string): "html" | "text" | undefined => {
  if (essence === "text/html" || essence === "application/xhtml+xml") return "html"
  return /^(?:text\/[\w.+-]+|application\/(?:[\w.+-]+\+)?(?:json|xml)|application\/(?:x-ndjson|json-seq))$/.test(
    essence
  )
    ? "text"
    : undefined
}
