/**
 * The packages and what each depends on.
 */
import { code, page, table } from "./Markdown.ts"
import type { PackageSource, Sources } from "./Sources.ts"

/** `docs/catalog/packages.md`. */
export const generate = ({ packages, roles }: Sources): string => {
  const layers = roles
    .map((role) => ({ role, members: packages.filter((each) => each.role === role) }))
    .filter(({ members }) => members.length > 0)
  return page(
    "# The packages",
    "A package is on the layer of its definition; providers and features beside it in the same package are modules of their own " +
      "(`scripts/lint/layers.mjs` lists them). Arrows lead to what a package needs; those that follow from others are left out.",
    ["```mermaid", "graph TD", ...layers.flatMap(subgraph), ...edges(packages), "```"].join("\n"),
    table(
      ["package", "layer", "what it is for", "depends on"],
      layers
        .toReversed()
        .flatMap(({ members, role }) =>
          members.map(({ dependsOn, description, name }) => [
            code(`@dsh/${name}`),
            role,
            description,
            dependsOn.map(code).join(", ")
          ])
        )
    )
  )
}

const idOf = (name: string): string => name.replaceAll("-", "_")

const subgraph = ({ members, role }: { readonly members: ReadonlyArray<PackageSource>; readonly role: string }) => [
  `  subgraph ${role}_layer["${role}"]`,
  ...members.map(({ name }) => `    ${idOf(name)}["${name}"]`),
  "  end"
]

const edges = (packages: ReadonlyArray<PackageSource>): ReadonlyArray<string> => {
  const needs = new Map(packages.map(({ name }) => [name, reachable(name, packages)]))
  const reaches = (from: string, to: string): boolean => needs.get(from)?.has(to) === true
  // What a package needs of another follows from a third, unless two of them need each other: then none follows from the other.
  const follows = (name: string, to: string, by: string) =>
    by !== to && reaches(by, to) && !reaches(to, by) && !reaches(by, name)
  return packages.flatMap(({ dependsOn, name }) =>
    dependsOn
      .filter((to) => !dependsOn.some((by) => follows(name, to, by)))
      .map((to) => `  ${idOf(name)} --> ${idOf(to)}`)
  )
}

/** Everything that `name` needs, by way of others as well. */
const reachable = (name: string, packages: ReadonlyArray<PackageSource>): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const todo = [name]; todo.length > 0;) {
    const next = todo.pop()
    for (const to of packages.find((each) => each.name === next)?.dependsOn ?? []) {
      if (found.has(to)) continue
      found.add(to)
      todo.push(to)
    }
  }
  return found
}
