/**
 * What has to be taken down and built for one composition to become another.
 */
import type { Graph, Node } from "../Graph.ts"

export interface Difference {
  /** Ids of the running rows that end. */
  readonly closed: ReadonlySet<string>
  /** Ids of the rows that start. */
  readonly opened: ReadonlySet<string>
}

/** Ids, for people. */
export interface Summary {
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
  /** Changed, or built again because something they need has changed. */
  readonly restarted: ReadonlyArray<string>
}

/** Plain data, so that its text tells. */
const isSame = (a: Node, b: Node): boolean =>
  a.plugin === b.plugin &&
  a.realm.join("/") === b.realm.join("/") &&
  a.after.join("\n") === b.after.join("\n") &&
  JSON.stringify(a.config) === JSON.stringify(b.config)

export const between = (before: Graph, after: Graph): Difference => {
  const next = new Map(after.nodes.map((node) => [node.row.id, node]))
  const closed = new Set<string>()
  // In the order of building: what a row needs is judged before it.
  for (const node of before.nodes) {
    const same = next.get(node.row.id)
    const isTouched = node.after.some((id) => closed.has(id))
    if (same === undefined || isTouched || !isSame(node, same)) closed.add(node.row.id)
  }
  const kept = new Set(before.nodes.map((node) => node.row.id).filter((id) => !closed.has(id)))
  return { closed, opened: new Set([...next.keys()].filter((id) => !kept.has(id))) }
}

export const summary = ({ closed, opened }: Difference): Summary => ({
  added: [...opened].filter((id) => !closed.has(id)),
  removed: [...closed].filter((id) => !opened.has(id)),
  restarted: [...closed].filter((id) => opened.has(id))
})
