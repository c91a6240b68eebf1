/**
 * What a type is called in a table: words a reader of JSON knows, and links to the types that are explained elsewhere on the page.
 */
import * as AST from "effect/SchemaAST"
import { anchor } from "../Markdown.ts"
import * as Notes from "./Notes.ts"

/** Types with a section of their own on the same page. */
export type Names = ReadonlyMap<AST.AST, string>

/** In its encoded form. */
export const of = (ast: AST.AST, names: Names = new Map()): string => {
  const name = names.get(ast)
  return name === undefined ? anonymous(ast, names) : link(name)
}

/** The heading of a type's section. Events and types may have the same name, headings may not. */
export const heading = (name: string): string => `Type: ${name}`

export const link = (name: string): string => `[${name}](#${anchor(heading(name))})`

/** What is behind the name. */
export const anonymous = (ast: AST.AST, names: Names = new Map()): string => {
  const go = (inner: AST.AST) => of(inner, names)
  switch (ast._tag) {
    case "StringKeyword":
    case "TemplateLiteral":
      return "string"
    case "NumberKeyword":
      return "number"
    case "BooleanKeyword":
      return "boolean"
    case "Literal":
      return JSON.stringify(ast.literal)
    case "Enums":
      return ast.enums.map(([, value]) => JSON.stringify(value)).join(" | ")
    case "Refinement":
      return names.has(ast.from) ? go(ast.from) : Notes.isInteger(ast) ? "integer" : go(ast.from)
    case "Transformation":
      return go(ast.from)
    case "Suspend":
      return Notes.identifierOf(ast) ?? go(ast.f())
    case "Union":
      return ast.types
        .filter((type) => !AST.isUndefinedKeyword(type))
        .map(go)
        .join(" | ")
    case "TupleType":
      return tuple(ast, go)
    case "TypeLiteral":
      return struct(ast, go)
    case "Declaration":
      return Notes.identifierOf(ast) ?? Notes.jsonTypeOf(ast) ?? "any"
    default:
      return "any"
  }
}

/** The struct in a schema, under its refinements and before what decoding makes of it. A map is none. */
export const structOf = (ast: AST.AST): AST.TypeLiteral | undefined => {
  if (AST.isTypeLiteral(ast)) return ast.indexSignatures.length === 0 ? ast : undefined
  if (AST.isRefinement(ast)) return structOf(ast.from)
  return AST.isTransformation(ast) && AST.isTypeLiteralTransformation(ast.transformation)
    ? structOf(ast.from)
    : undefined
}

const tuple = ({ elements, rest }: AST.TupleType, go: (ast: AST.AST) => string): string => {
  const [each] = rest
  if (each !== undefined) {
    const item = go(each.type)
    return `${elements.length > 0 ? "non-empty " : ""}list of ${item.includes(" | ") ? `(${item})` : item}`
  }
  return `\\[${elements.map(({ type }) => go(type)).join(", ")}\\]`
}

const struct = (
  { indexSignatures: [values], propertySignatures }: AST.TypeLiteral,
  go: (ast: AST.AST) => string
): string => {
  if (values !== undefined) return `object of ${go(values.type)}`
  if (propertySignatures.length === 0) return "object"
  const members = propertySignatures.map(
    ({ isOptional, name, type }) => `${String(name)}${isOptional ? "?" : ""}: ${go(type)}`
  )
  return `{ ${members.join(", ")} }`
}
