/**
 * Who provides what to whom. A service belongs to the isolated group it is provided in, and is seen in the groups inside.
 */
import * as Either from "effect/Either"
import type { Problem } from "../CompositionError.ts"
import { showPlace } from "../CompositionError.ts"
import type { Input, Node } from "../Graph.ts"
import { leaves } from "../Graph.ts"

type Found = Omit<Node, "after">

export interface Connected {
  /** For each row those that have to be built before it. */
  readonly edges: ReadonlyMap<string, ReadonlySet<string>>
  readonly problems: ReadonlyArray<Problem>
}

/** Realm and service in one string, for look-ups. */
const slot = (realm: ReadonlyArray<string>, key: string): string => `${realm.join("/")}\n${key}`

export const connect = (found: ReadonlyArray<Found>, input: Input): Connected => {
  const problems: Array<Problem> = []
  const providers = new Map<string, Found>()
  for (const node of found) {
    const { plugin, realm, row } = node
    if (input.isRealm === true && realm.length === 0 && plugin.provides.length > 0) {
      problems.push({
        code: "SERVICE_OUTSIDE_REALM",
        place: row.origin,
        row: row.id,
        reason: `provides ${plugin.provides.join(", ")} outside of an isolated group`,
        remedy: "put it, with the rows that use it, into a group with isolate: true"
      })
    }
    for (const key of plugin.provides) {
      const other = providers.get(slot(realm, key))
      if (other === undefined) providers.set(slot(realm, key), node)
      else {
        problems.push({
          code: "DUPLICATE_SERVICE",
          place: row.origin,
          row: row.id,
          reason: `provides ${key}, and so does row "${other.row.id}" (${showPlace(other.row.origin)})`,
          remedy: "disable one of the two, or put one into a group with isolate: true"
        })
      }
    }
  }

  const providerOf = (node: Found, key: string): Found | undefined => {
    for (let depth = node.realm.length; depth >= 0; depth--) {
      const provider = providers.get(slot(node.realm.slice(0, depth), key))
      // Who provides a service again in a realm means the outer one.
      if (provider !== undefined && provider !== node) return provider
    }
    return undefined
  }

  const edges = new Map<string, ReadonlySet<string>>()
  for (const node of found) {
    const before = new Set<string>()
    for (const key of node.plugin.requires) {
      const provider = providerOf(node, key)
      if (provider !== undefined) before.add(provider.row.id)
      else if (!input.given.has(key)) problems.push(missing(node, key, input))
    }
    for (const key of node.plugin.uses) {
      const provider = providerOf(node, key)
      if (provider !== undefined) before.add(provider.row.id)
    }
    edges.set(node.row.id, before)
  }
  return { edges, problems }
}

const missing = ({ row }: Found, key: string, { plugins, rows }: Input): Problem => {
  const provides = (name: string): boolean => {
    const plugin = plugins.get(name)
    return plugin !== undefined && Either.isRight(plugin) && plugin.right.provides.includes(key)
  }
  const off = leaves(rows).find(({ name }) => name !== undefined && provides(name))
  const other = [...plugins.keys()].find(provides)
  const remedy =
    off !== undefined
      ? `row "${off.id}" (${showPlace(off.origin)}) provides it: enable that, or disable this one`
      : other !== undefined
        ? `add a row of ${other}, which provides it`
        : `add a row that provides it, or disable this one`
  return {
    code: "MISSING_SERVICE",
    place: row.origin,
    row: row.id,
    reason: `needs ${key}, which nobody provides`,
    remedy
  }
}
