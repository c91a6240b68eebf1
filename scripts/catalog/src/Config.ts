/**
 * The plugins in the box and what can be configured of each.
 */
import { catalogue } from "@dsh/bundles/Catalogue"
import type { Plugin } from "@dsh/kernel/Plugin"
import * as Effect from "effect/Effect"
import { anchor, code, page, table } from "./Markdown.ts"
import * as SchemaTable from "./SchemaTable.ts"

/** `docs/catalog/config.md`. */
export const generate: Effect.Effect<string, unknown> = Effect.map(
  Effect.forEach(catalogue.names, catalogue.find),
  (plugins) => {
    const configurable = plugins.filter(({ config }) => config !== undefined)
    return page(
      "# Plugins and their options",
      "What a row of a composition may name, and what may stand in its `config`. An option that is not listed is an error.",
      table(
        ["plugin", "what it is", "provides", "requires", "uses if it is there"],
        plugins.map(({ config, description = "", name, provides, requires, uses }) => [
          config === undefined ? code(name) : `[${name}](#${anchor(name)})`,
          description,
          keys(provides),
          keys(requires),
          keys(uses)
        ])
      ),
      ...configurable.flatMap(section)
    )
  }
)

const keys = (list: ReadonlyArray<string>): string => list.map(code).join(", ")

const section = ({ config, description = "", name }: Plugin): ReadonlyArray<string> => [
  `## ${name}`,
  description,
  config === undefined ? "" : SchemaTable.render(SchemaTable.fields(config), "option")
]
