/**
 * The tools on offer as the library takes them. It is told of them, and calls none.
 */
import type { ToolSchema } from "@dsh/protocol/Request"
import * as Text from "@dsh/kernel/Text"
import * as Tool from "@effect/ai/Tool"
import type * as Toolkit from "@effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

type Tools = Record<string, Tool.Any>

export interface Offer {
  readonly toolkit: Toolkit.WithHandler<Tools>
  readonly toolChoice: "auto" | "none"
}

export const make = (schemas: ReadonlyArray<ToolSchema>): Offer => ({
  toolkit: {
    tools: Object.fromEntries(schemas.map((schema) => [schema.name, toolOf(schema)])),
    handle: () => Effect.dieMessage("the library resolves no calls")
  },
  toolChoice: schemas.length === 0 ? "none" : "auto"
})

const toolOf = ({ description, name, parameters }: ToolSchema): Tool.Any => {
  // Takes any object, and is described by the author of the tool.
  const schema = Schema.Struct({}, { key: Schema.String, value: Schema.Unknown }).annotations({
    jsonSchema: wellFormed(parameters)
  })
  return Tool.make(name, { description: Text.wellFormed(description) }).setParameters(schema)
}

/** Half a surrogate pair, anywhere in a schema, has no UTF-8 form. */
const wellFormed = (value: object): object =>
  JSON.parse(JSON.stringify(value), (_, field: unknown) =>
    typeof field === "string" ? Text.wellFormed(field) : field
  ) as object
