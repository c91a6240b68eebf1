/**
 * The configuration of one row against the schema of its plugin.
 */
import type { Part, Plugin } from "@dsh/kernel/Plugin"
import * as Nearest from "@dsh/kernel/Nearest"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import type * as SchemaAST from "effect/SchemaAST"
import type { Problem } from "../CompositionError.ts"
import * as Dynamic from "../Dynamic.ts"
import type { Surroundings } from "../Dynamic.ts"
import type { Placed } from "../Stack.ts"

export interface Configured {
  readonly part: Part
  readonly config: unknown
}

/** What a row that says nothing is configured with. */
const nothing = {}

export const configure = (
  row: Placed,
  plugin: Plugin,
  at: Surroundings
): Either.Either<Configured, ReadonlyArray<Problem>> => {
  const config = row.config === undefined ? nothing : Dynamic.resolve(row.config, at)
  // A schema without keys lets everything through.
  const [extra] =
    plugin.config === undefined && typeof config === "object" && config !== null ? Object.keys(config) : []
  if (extra !== undefined) return Either.left([unknown(row, plugin, [extra])])
  return Either.mapBoth(plugin.configure(config), {
    onLeft: (error) => problems(row, plugin, error),
    onRight: (part) => ({ part, config })
  })
}

const problems = (row: Placed, plugin: Plugin, error: ParseResult.ParseError): ReadonlyArray<Problem> => {
  const issues = ParseResult.ArrayFormatter.formatErrorSync(error)
  const [issue] = [...issues].sort((a, b) => b.path.length - a.path.length)
  const path = issue?.path ?? []
  const place = row.configuredAt
  const option = path.map(String).join(".")
  if (issue?._tag === "Unexpected") return [unknown(row, plugin, path)]
  const variables = Dynamic.variables(row.config)
  const hint = variables.length === 0 ? "" : ` (it reads ${variables.join(", ")})`
  const message = (issue?.message ?? error.message).replaceAll(/\s*\n\s*/g, " ")
  return [
    {
      code: "INVALID_CONFIG",
      place,
      row: row.id,
      reason: `has ${option === "" ? "a config" : `a config with "${option}"`} that does not fit: ${message}${hint}`,
      remedy: `correct it; the options of ${plugin.name} are in docs/catalog/config.md`
    }
  ]
}

const unknown = (row: Placed, plugin: Plugin, path: ReadonlyArray<PropertyKey>): Problem => {
  const known = keysAt(plugin.config?.ast, path.slice(0, -1))
  return {
    code: "UNKNOWN_OPTION",
    place: row.configuredAt,
    row: row.id,
    reason: `sets "${path.map(String).join(".")}", which ${plugin.name} does not know`,
    remedy:
      known.length === 0
        ? "it takes no options: remove its config"
        : Nearest.suggest(String(path[path.length - 1]), known)
  }
}

/** The keys that the schema knows at a path. */
const keysAt = (ast: SchemaAST.AST | undefined, path: ReadonlyArray<PropertyKey>): ReadonlyArray<string> => {
  if (ast === undefined) return []
  switch (ast._tag) {
    case "Transformation":
      return keysAt(ast.from, path)
    case "Refinement":
      return keysAt(ast.from, path)
    case "Suspend":
      return keysAt(ast.f(), path)
    case "Union":
      return ast.types.flatMap((member) => keysAt(member, path))
    case "TypeLiteral": {
      const [first, ...others] = path
      if (first === undefined) return ast.propertySignatures.map(({ name }) => String(name))
      const property = ast.propertySignatures.find(({ name }) => name === first)
      return property === undefined ? [] : keysAt(property.type, others)
    }
    default:
      return []
  }
}
