/**
 * The parameters of a tool as a table: from the JSON Schema that the model gets, so that it is what the model gets.
 */
import type { Json, JsonObject } from "@dsh/kernel/Json"
import * as Notes from "./SchemaTable/Notes.ts"
import type { Field } from "./SchemaTable.ts"

export const fields = (schema: JsonObject, prefix = ""): ReadonlyArray<Field> => {
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  return Object.entries(recordOf(schema["properties"])).flatMap(([name, value]) => {
    const member = recordOf(value)
    const path = prefix + name
    const inner = itemOf(member)
    return [
      {
        path,
        type: typeOf(member),
        isOptional: !required.includes(name),
        default: "default" in member ? Notes.json(member["default"]) : undefined,
        limits: "",
        description: typeof member["description"] === "string" ? member["description"] : ""
      },
      ...fields(inner, `${path}${inner === member ? "." : "[]."}`)
    ]
  })
}

const itemOf = (schema: JsonObject): JsonObject => ("items" in schema ? recordOf(schema["items"]) : schema)

const typeOf = (schema: JsonObject): string => {
  if (Array.isArray(schema["enum"])) return schema["enum"].map(Notes.json).join(" | ")
  if ("const" in schema) return Notes.json(schema["const"])
  if (Array.isArray(schema["oneOf"])) return schema["oneOf"].map((branch) => typeOf(recordOf(branch))).join(" | ")
  if (schema["type"] === "array") return `list of ${typeOf(recordOf(schema["items"]))}`
  return typeof schema["type"] === "string" ? schema["type"] : "any"
}

const recordOf = (value: Json | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
