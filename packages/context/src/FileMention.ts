/**
 * `@path` in what a person writes: the name of a file or folder that the model may read. The text stays as it is typed; nothing is
 * attached to it.
 */

export interface Mention {
  /** Where the `@` is, and where the mention ends: at the cursor. */
  readonly start: number
  readonly end: number
  /** What was typed of the path. */
  readonly query: string
}

/** The mention that ends at `cursor`, if one does: at the start of the text or behind a space, `@path` or `@"path with spaces`. */
export const at = (text: string, cursor: number): Mention | undefined => {
  const before = text.slice(0, cursor)
  const [match, lead = "", quoted, plain = ""] = /(^|\s)@(?:"([^"\n]*)|([^\s"]*))$/.exec(before) ?? []
  if (match === undefined) return undefined
  return { start: cursor - match.length + lead.length, end: cursor, query: quoted ?? plain }
}

/** How a path is mentioned. */
export const write = (path: string): string => (/[\s"]/.test(path) ? `@"${path.replaceAll('"', "")}"` : `@${path}`)

/** The text with `path` in the place of the mention, a space behind it unless it is a folder to go on from, and the new cursor. */
export const complete = (
  text: string,
  { end, start }: Mention,
  path: string
): { readonly text: string; readonly cursor: number } => {
  const isFolder = path.endsWith("/")
  const written = write(path)
  // The closing quote is left out while the path may go on.
  const inserted = isFolder ? written.replace(/"$/, "") : `${written} `
  return { text: text.slice(0, start) + inserted + text.slice(end), cursor: start + inserted.length }
}
