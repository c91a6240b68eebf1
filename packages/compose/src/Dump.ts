/**
 * A composition as YAML, for people: every row, where it comes from, and who changed it. Dynamic values are printed as they are written.
 */
import type { Place } from "./CompositionError.ts"
import { showPlace } from "./CompositionError.ts"
import { print } from "./PatchFile/Document.ts"
import type { Placed } from "./Stack.ts"

/** As it would be written in a file. */
const written = ({ children, config, disabled, id, isolate, name }: Placed): unknown => ({
  id,
  ...(name !== undefined && { name }),
  ...(config !== undefined && { config }),
  ...(disabled !== undefined && { disabled }),
  ...(isolate !== undefined && { isolate }),
  ...(children !== undefined && { group: children.map(written) })
})

const sourcesOf = (row: Placed): ReadonlyArray<Place> => [
  row.origin,
  ...row.patched,
  ...(row.children ?? []).flatMap((child) => [
    ...(child.origin.source === row.origin.source ? [] : [child.origin]),
    ...child.patched
  ])
]

/** `bundle base, patched by /home/u/.dsh/dsh.patch.yml:3`. The line of the origin is left out: rows are grouped by it. */
const headerOf = (row: Placed): string => {
  const [origin, ...patches] = sourcesOf(row)
  const by = [...new Set(patches.map(showPlace))]
  return by.length === 0 ? origin!.source : `${origin!.source}, patched by ${by.join(", ")}`
}

/** In the order of the rows; a header wherever the origin changes. Ends with a newline. */
export const dump = (rows: ReadonlyArray<Placed>): string => {
  let header = ""
  const parts: Array<string> = []
  for (const row of rows) {
    const next = headerOf(row)
    if (next !== header) parts.push(`${parts.length === 0 ? "" : "\n"}# ${next}`)
    header = next
    parts.push(print([written(row)]).trimEnd())
  }
  return parts.length === 0 ? "[]\n" : `${parts.join("\n")}\n`
}
