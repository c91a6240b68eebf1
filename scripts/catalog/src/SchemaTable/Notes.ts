/**
 * What a schema says of a member besides its type: limits, default and description, wherever the annotation stands.
 */
import * as Option from "effect/Option"
import * as AST from "effect/SchemaAST"
import { code } from "../Markdown.ts"

export const json = (value: unknown): string => JSON.stringify(value) ?? String(value)

/** The schema and what it refines, outermost first. */
const refined = (ast: AST.AST): ReadonlyArray<AST.AST> => [
  ast,
  ...(AST.isRefinement(ast) ? refined(ast.from) : AST.isTransformation(ast) ? refined(ast.from) : []),
  ...(AST.isUnion(ast) ? ast.types.filter(AST.isRefinement).flatMap(refined) : [])
]

const layersOf = (sides: ReadonlyArray<AST.PropertySignature>): ReadonlyArray<AST.Annotated> =>
  sides.flatMap((side) => [side, ...refined(side.type)])

// The descriptions that come with the library repeat the type: "a non-negative number", "an integer".
const isBuiltIn = (description: string): boolean => /^an? /.test(description)

/** The first that somebody wrote. */
export const descriptionOf = (sides: ReadonlyArray<AST.PropertySignature>): string =>
  layersOf(sides)
    .flatMap((layer) => Option.toArray(AST.getDescriptionAnnotation(layer)))
    .find((description) => !isBuiltIn(description)) ?? ""

export const defaultOf = (sides: ReadonlyArray<AST.PropertySignature>): string | undefined => {
  const [found] = layersOf(sides).flatMap((layer) => Option.toArray(AST.getDefaultAnnotation(layer)))
  return found === undefined ? undefined : json(found)
}

export const identifierOf = (ast: AST.AST): string | undefined =>
  Option.getOrUndefined(AST.getIdentifierAnnotation(ast))

export const isInteger = (ast: AST.AST): boolean => refined(ast).some((layer) => schemaOf(layer)["type"] === "integer")

export const jsonTypeOf = (ast: AST.AST): string | undefined => {
  const { type } = schemaOf(ast)
  return typeof type === "string" ? type : undefined
}

const schemaOf = (layer: AST.Annotated): Readonly<Record<string, unknown>> =>
  Option.getOrElse(AST.getJSONSchemaAnnotation(layer), () => ({})) as Readonly<Record<string, unknown>>

const words: Readonly<Record<string, (limit: unknown) => string>> = {
  minimum: (n) => `≥ ${String(n)}`,
  exclusiveMinimum: (n) => `> ${String(n)}`,
  maximum: (n) => `≤ ${String(n)}`,
  exclusiveMaximum: (n) => `< ${String(n)}`,
  multipleOf: (n) => `a multiple of ${String(n)}`,
  minLength: (n) => (n === 1 ? "not empty" : `at least ${String(n)} characters`),
  maxLength: (n) => `at most ${String(n)} characters`,
  minItems: (n) => (n === 1 ? "not empty" : `at least ${String(n)}`),
  maxItems: (n) => `at most ${String(n)}`,
  pattern: (text) => `matches ${code(String(text))}`
}

/** In words, each once. */
export const limitsOf = (sides: ReadonlyArray<AST.PropertySignature>): string => {
  const found = layersOf(sides).flatMap((layer) =>
    Object.entries(schemaOf(layer)).flatMap(([name, limit]) => words[name]?.(limit) ?? [])
  )
  return Array.from(new Set(found)).join(", ")
}
