/**
 * The tools as declarations in TypeScript: what a model reads that writes programs over them. Made from the same schemas that calls are
 * validated with.
 */
import type { Json, JsonObject } from "@dsh/kernel/Json"

export interface DescribedTool {
  readonly name: string
  readonly description: string
  readonly parameters: JsonObject
  /** None: nothing is known of its value. */
  readonly output?: () => JsonObject
}

/** The declarations, tools in the order of their names. The same tools give the same text. */
export const typescript = (tools: ReadonlyArray<DescribedTool>): string => {
  const sorted = [...tools].sort((a, b) => (a.name < b.name ? -1 : 1))
  const args = sorted.flatMap(({ description, name, parameters }) => [
    ...comment(description, "  "),
    `  ${key(name)}: ${type(parameters, "  ")}`
  ])
  const outputs = sorted.map(
    ({ name, output }) => `  ${key(name)}: ${output === undefined ? "unknown" : type(output(), "  ")}`
  )
  const lines = [
    "interface ToolArgs {",
    ...args,
    "}",
    "",
    "interface ToolOutputs {",
    ...outputs,
    "}",
    "",
    "/** What a failed call rejects with. */",
    "declare class ToolCallError extends Error {",
    "  readonly toolName: keyof ToolArgs",
    "}",
    "",
    "declare const tools: {",
    "  readonly [Name in keyof ToolArgs]: (args: ToolArgs[Name]) => Promise<ToolOutputs[Name]>",
    "}"
  ]
  return unbraced(lines.join("\n"))
}

/** A fence that no line of `text` can close. */
export const fenced = (language: string, text: string): string => {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = "`".repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}

const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

/** A prompt takes two braces for the beginning of a variable. */
const unbraced = (text: string): string => text.replace(/\{(?=\{)/g, "{ ")

const comment = (text: unknown, indent: string): ReadonlyArray<string> => {
  if (typeof text !== "string" || text.trim() === "") return []
  const lines = text.trim().replaceAll("*/", "*\\/").split(/\r?\n/)
  if (lines.length === 1) return [`${indent}/** ${lines[0]} */`]
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`]
}

const type = (schema: Json | undefined, indent: string): string => {
  if (!isObject(schema)) return schema === false ? "never" : "unknown"
  const { enum: values, items, oneOf, type: kind } = schema
  if ("const" in schema) return literal(schema["const"])
  if (Array.isArray(values)) return union(values.map(literal))
  if (Array.isArray(oneOf)) return union(oneOf.map((branch: Json) => type(branch, indent)))
  if (Array.isArray(kind)) return union(kind.map((one: Json) => type({ ...schema, type: one }, indent)))
  switch (kind) {
    case "string":
    case "boolean":
    case "null":
      return kind
    case "number":
    case "integer":
      return "number"
    case "array": {
      const item = type(items, indent)
      return /^[\w.]+$/.test(item) ? `${item}[]` : `Array<${item}>`
    }
    case "object":
      return object(schema, indent)
    default:
      return "unknown"
  }
}

const object = ({ additionalProperties: rest, properties, required }: JsonObject, indent: string): string => {
  const members = isObject(properties) ? Object.entries(properties) : []
  const others = isObject(rest) ? type(rest, indent) : "unknown"
  if (members.length === 0) return rest === false ? "{}" : `Record<string, ${others}>`
  const inner = `${indent}  `
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name)
  const lines = members.flatMap(([name, member]) => [
    ...comment(isObject(member) ? member["description"] : undefined, inner),
    `${inner}${key(name)}${isRequired(name) ? "" : "?"}: ${type(member, inner)}`
  ])
  const open = isObject(rest) ? [`${inner}[key: string]: unknown`] : []
  return ["{", ...lines, ...open, `${indent}}`].join("\n")
}

const literal = (value: Json | undefined): string => JSON.stringify(value ?? null)

const union = (types: ReadonlyArray<string>): string => {
  const distinct = [...new Set(types)]
  return distinct.length === 0 ? "never" : distinct.join(" | ")
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
