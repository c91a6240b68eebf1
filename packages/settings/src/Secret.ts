/**
 * Fields that nobody but the owner of a section sees.
 */
import type * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import type { Path } from "./Settings.ts"
import { isMap } from "./Settings/Merge.ts"

const SecretId: unique symbol = Symbol.for("@dsh/settings/secret")

/** Marks a schema: its values are left out of views, and of what is said when they do not fit. */
export const secret = <S extends Schema.Annotable.All>(schema: S): Schema.Annotable.Self<S> =>
  schema.annotations({
    [SecretId]: true,
    message: () => ({ message: "does not fit (its value is not shown)", override: true })
  })

export interface Found {
  readonly path: Path
  readonly set: boolean
}

/** The fields of a value that are secret. Those that a schema names are found whether they are set or not. */
export const find = (ast: SchemaAST.AST, value: unknown): ReadonlyArray<Found> => {
  const found = new Map<string, Found>()
  walk(ast, value, [], (one) => found.set(JSON.stringify(one.path), one))
  return Array.from(found.values())
}

const walk = (ast: SchemaAST.AST, value: unknown, path: Path, tell: (found: Found) => void): void => {
  if (ast.annotations[SecretId] === true) return tell({ path, set: value !== undefined && value !== "" })
  switch (ast._tag) {
    case "Refinement":
    case "Transformation":
      return walk(ast.from, value, path, tell)
    case "Suspend":
      // A schema that holds itself has no end where there is no value.
      return value === undefined ? undefined : walk(ast.f(), value, path, tell)
    case "Union":
      for (const each of ast.types) walk(each, value, path, tell)
      return
    case "TypeLiteral": {
      const map = isMap(value) ? value : {}
      const named = new Set(ast.propertySignatures.map(({ name }) => name))
      for (const { name, type } of ast.propertySignatures) walk(type, map[String(name)], [...path, name], tell)
      for (const { type } of ast.indexSignatures) {
        for (const key of Object.keys(map)) if (!named.has(key)) walk(type, map[key], [...path, key], tell)
      }
      return
    }
    case "TupleType": {
      const list: ReadonlyArray<unknown> = Array.isArray(value) ? value : []
      const types = ast.elements.map(({ type }) => type)
      const [rest] = ast.rest
      for (const [i, item] of list.entries()) {
        const type = types[i] ?? rest?.type
        if (type !== undefined) walk(type, item, [...path, i], tell)
      }
    }
  }
}

/** The value without what is at these paths. */
export const without = (value: unknown, paths: ReadonlyArray<Path>): unknown => paths.reduce(removed, value)

const removed = (value: unknown, [key, ...rest]: Path): unknown => {
  if (key === undefined) return undefined
  if (Array.isArray(value)) return value.map((item, i) => (i === key ? removed(item, rest) : item))
  if (!isMap(value) || !Object.hasOwn(value, String(key))) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => {
      const kept = name === key ? removed(item, rest) : item
      return kept === undefined ? [] : [[name, kept]]
    })
  )
}
