/**
 * An order in which each row comes after those it needs, and otherwise as they were written.
 */
import * as Either from "effect/Either"
import type { Problem } from "../CompositionError.ts"
import { showPlace } from "../CompositionError.ts"
import type { Node } from "../Graph.ts"

type Found = Omit<Node, "after">

export const order = (
  found: ReadonlyArray<Found>,
  edges: ReadonlyMap<string, ReadonlySet<string>>
): Either.Either<ReadonlyArray<Found>, Problem> => {
  const byId = new Map(found.map((node) => [node.row.id, node]))
  const done = new Set<string>()
  const ordered: Array<Found> = []
  let cycle: ReadonlyArray<Found> | undefined

  const visit = (node: Found, path: ReadonlyArray<Found>): void => {
    const { id } = node.row
    if (done.has(id) || cycle !== undefined) return
    const seen = path.indexOf(node)
    if (seen !== -1) {
      cycle = path.slice(seen)
      return
    }
    for (const before of edges.get(id) ?? []) {
      const other = byId.get(before)
      if (other !== undefined) visit(other, [...path, node])
    }
    done.add(id)
    ordered.push(node)
  }

  for (const node of found) visit(node, [])
  return cycle === undefined ? Either.right(ordered) : Either.left(round(cycle))
}

const round = (cycle: ReadonlyArray<Found>): Problem => {
  const [first, ...others] = cycle
  const names = [...others, first!].map(({ row }) => `"${row.id}" (${showPlace(row.origin)})`)
  return {
    code: "CYCLE",
    place: first!.row.origin,
    row: first!.row.id,
    reason: `needs itself, by way of ${names.join(", ")}`,
    remedy: "disable one of them, or replace it by one that needs less"
  }
}
