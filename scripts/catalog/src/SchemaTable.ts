/**
 * A table of what a struct schema has: each member with its type, whether it may be left out and what it is then, its limits, and what
 * it is for. What is told comes from the schema itself, so that the page cannot say anything else than what is checked.
 */
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { code, table } from "./Markdown.ts"
import * as Notes from "./SchemaTable/Notes.ts"
import * as TypeText from "./SchemaTable/TypeText.ts"

export interface Options {
  /** Types that have a section of their own: they are linked, and not taken apart. */
  readonly names?: TypeText.Names
  /** What members are for, by their path, where the schema does not say it. */
  readonly docs?: Readonly<Record<string, string>>
}

export interface Field {
  /** `a.b` for a member of a member. */
  readonly path: string
  readonly type: string
  readonly isOptional: boolean
  /** As JSON. */
  readonly default: string | undefined
  readonly limits: string
  readonly description: string
}

/** The members of a struct, those of nested ones included. None for a schema that is no struct. */
export const fields = ({ ast }: Schema.Schema.All, options: Options = {}): ReadonlyArray<Field> =>
  fieldsOf(ast, "", options)

/**
 * As a Markdown table; empty for a struct without members. Columns that have nothing to say are left out.
 *
 * @param member What members are called: `option`, `argument`, …
 */
export const render = (all: ReadonlyArray<Field>, member = "member"): string => {
  const columns: ReadonlyArray<readonly [name: string, cell: (field: Field) => string]> = [
    [member, ({ path }) => code(path)],
    ["type", ({ type }) => type],
    [
      "default",
      (field) => (field.default === undefined ? (field.isOptional ? "may be left out" : "") : code(field.default))
    ],
    ["limits", ({ limits }) => limits],
    ["what it is", ({ description }) => description]
  ]
  const used = columns.filter(([, cell]) => all.some((field) => cell(field) !== ""))
  return table(
    used.map(([name]) => name),
    all.map((field) => used.map(([, cell]) => cell(field)))
  )
}

const fieldsOf = (ast: AST.AST, prefix: string, options: Options): ReadonlyArray<Field> =>
  membersOf(ast).flatMap(({ defaultOf, decoded, member }) => {
    const path = prefix + String(member.name)
    const sides = decoded === undefined ? [member] : [member, decoded]
    const inner = isTakenApart(member.type, options) ? fieldsOf(member.type, `${path}.`, options) : []
    const field: Field = {
      path,
      type: inner.length === 0 ? TypeText.of(member.type, options.names) : "object",
      isOptional: member.isOptional,
      default: defaultOf() ?? Notes.defaultOf(sides),
      limits: Notes.limitsOf(sides),
      description: Notes.descriptionOf(sides) || (options.docs?.[path] ?? "")
    }
    return [field, ...inner]
  })

const isTakenApart = (ast: AST.AST, { names }: Options): boolean =>
  names?.has(ast) !== true && TypeText.structOf(ast) !== undefined

interface Member {
  readonly member: AST.PropertySignature
  /** The same after decoding, where that makes a difference. */
  readonly decoded: AST.PropertySignature | undefined
  /** What stands for it when it is left out, as JSON. */
  readonly defaultOf: () => string | undefined
}

const membersOf = (ast: AST.AST): ReadonlyArray<Member> => {
  const struct = TypeText.structOf(ast)
  if (struct === undefined) return []
  const steps =
    AST.isTransformation(ast) && AST.isTypeLiteralTransformation(ast.transformation)
      ? ast.transformation.propertySignatureTransformations
      : []
  const decoded = AST.isTransformation(ast) ? TypeText.structOf(ast.to) : undefined
  return struct.propertySignatures.map((member) => {
    const step = steps.find(({ from }) => from === member.name)
    return {
      member,
      decoded: decoded?.propertySignatures.find(({ name }) => name === (step?.to ?? member.name)),
      defaultOf: () => step && Option.getOrUndefined(Option.map(step.decode(Option.none()), Notes.json))
    }
  })
}
