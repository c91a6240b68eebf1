/**
 * Leaves out of a page what nobody reads, so that a limit on its length falls on its text: modern pages begin with more script than most
 * have text. In one pass, whatever the page is like.
 */
const hidden = /<(script|style|noscript|svg)(?=[\s/>])|<!--/gi

export const lighten = (html: string): string => {
  const kept: Array<string> = []
  let at = 0
  // Where an end was not found once it will not be found later.
  const endless = new Set<string>()
  hidden.lastIndex = 0
  for (let match = hidden.exec(html); match !== null; match = hidden.exec(html)) {
    const name = match[1]?.toLowerCase()
    const end = name === undefined ? "-->" : `</${name}`
    const close = endless.has(end) ? -1 : indexOf(html, end, hidden.lastIndex)
    if (close === -1) {
      endless.add(end)
      continue
    }
    kept.push(html.slice(at, match.index))
    const after = name === undefined ? close + end.length : html.indexOf(">", close) + 1
    at = after === 0 ? html.length : after
    hidden.lastIndex = at
  }
  return kept.join("") + html.slice(at)
}

/** Tags in either case; a search goes on from where it stops, so no part is looked at twice. */
const indexOf = (html: string, end: string, from: number): number => {
  if (end === "-->") return html.indexOf(end, from)
  const pattern = new RegExp(end, "gi")
  pattern.lastIndex = from
  return pattern.exec(html)?.index ?? -1
}
