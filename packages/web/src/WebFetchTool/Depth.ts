/**
 * How deep the elements of a page are nested, without building them.
 */

/** They hold nothing, or end where the next one of their kind begins. */
const shallow = new Set(
  (
    "area base br col embed hr img input link meta source track wbr " +
    "p li dt dd option optgroup tr td th thead tbody tfoot colgroup caption"
  ).split(" ")
)

const tag = /<(\/?)([a-z][^\s/>]*)/gi

/** Tags are all that counts; in comments and scripts there may be some that are none, which makes a page look deeper than it is. */
export const depthOf = (html: string): number => {
  let depth = 0
  let deepest = 0
  tag.lastIndex = 0
  for (let match = tag.exec(html); match !== null; match = tag.exec(html)) {
    const end = html.indexOf(">", tag.lastIndex)
    if (end === -1) break
    tag.lastIndex = end
    const [, slash, name = ""] = match
    if (shallow.has(name.toLowerCase())) continue
    if (slash === "/") depth = Math.max(0, depth - 1)
    else if (html[end - 1] !== "/") deepest = Math.max(deepest, ++depth)
  }
  return deepest
}
