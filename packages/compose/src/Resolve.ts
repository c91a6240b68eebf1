/**
 * From rows and their plugins to a graph that can be built, or to everything that is wrong with it. Pure: nothing is started, and the
 * same rows give the same graph.
 */
import type { Plugin } from "@dsh/kernel/Plugin"
import * as Nearest from "@dsh/kernel/Nearest"
import * as Either from "effect/Either"
import type { Missing } from "./Catalogue.ts"
import type { Problem } from "./CompositionError.ts"
import * as Dynamic from "./Dynamic.ts"
import type { Surroundings } from "./Dynamic.ts"
import type { Graph, Input, Node } from "./Graph.ts"
import * as Configured from "./Resolve/Configured.ts"
import * as Ordering from "./Resolve/Ordering.ts"
import * as Services from "./Resolve/Services.ts"
import type { Placed } from "./Stack.ts"

/** A row that is switched on, and the isolated groups around it. */
export interface Active {
  readonly row: Placed
  readonly realm: ReadonlyArray<string>
}

/** The rows that are switched on, in order. A group takes its rows with it. */
export const active = (rows: ReadonlyArray<Placed>, at: Surroundings): ReadonlyArray<Active> => {
  const visit = (row: Placed, realm: ReadonlyArray<string>): ReadonlyArray<Active> => {
    if (row.disabled !== undefined && Dynamic.isOn(row.disabled, at)) return []
    if (row.children === undefined) return [{ row, realm }]
    const inner = row.isolate === true ? [...realm, row.id] : realm
    return row.children.flatMap((child) => visit(child, inner))
  }
  return rows.flatMap((row) => visit(row, []))
}

export const resolve = (input: Input): Either.Either<Graph, readonly [Problem, ...ReadonlyArray<Problem>]> => {
  const problems: Array<Problem> = []
  const found: Array<Omit<Node, "after">> = []
  for (const { realm, row } of active(input.rows, input.surroundings)) {
    const plugin = pluginOf(row, input)
    if (Either.isLeft(plugin)) {
      problems.push(plugin.left)
      continue
    }
    const configured = Configured.configure(row, plugin.right, input.surroundings)
    if (Either.isLeft(configured)) problems.push(...configured.left)
    else found.push({ row, plugin: plugin.right, realm, ...configured.right })
  }
  const services = Services.connect(found, input)
  // What needs a row that could not be read would be reported as well, and only hide why.
  if (problems.length === 0) problems.push(...services.problems)
  const ordered = Ordering.order(found, services.edges)
  if (Either.isLeft(ordered) && problems.length === 0) problems.push(ordered.left)
  const [first, ...others] = problems
  if (first !== undefined || Either.isLeft(ordered)) {
    return Either.left([first ?? (Either.isLeft(ordered) ? ordered.left : first!), ...others])
  }
  return Either.right({
    nodes: ordered.right.map((node) => ({ ...node, after: [...(services.edges.get(node.row.id) ?? [])] }))
  })
}

const pluginOf = (row: Placed, { known, plugins }: Input): Either.Either<Plugin, Problem> => {
  const name = row.name ?? ""
  const loaded = plugins.get(name) ?? Either.left(unknown(name, known))
  return Either.mapLeft(loaded, (missing) => ({ ...missing, place: row.origin, row: row.id }))
}

export const unknown = (name: string, known: ReadonlyArray<string>): Missing => {
  const nearest = Nearest.find(name, known)
  return {
    code: "UNKNOWN_PLUGIN",
    reason: `names the plugin ${name}, which is nowhere`,
    remedy:
      nearest === undefined
        ? `add it with "dsh plugin --profile NAME add ${name}", or correct the name`
        : `did you mean "${nearest}"?`
  }
}
