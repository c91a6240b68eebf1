// The published schema of what `dsh run --json` prints is the one in the code. `DSH_SNAPSHOT=refresh` writes it anew.
import { assert, it } from "@effect/vitest"
import * as JSONSchema from "effect/JSONSchema"
import { readFileSync, writeFileSync } from "node:fs"
import * as RunEvents from "../src/RunEvents.ts"
import { fileURLToPath } from "node:url"

const schemaFile = fileURLToPath(new URL("../../../docs/run-events.schema.json", import.meta.url))

it("is the one that is published", () => {
  const $defs = {}
  // Readers are to skip fields that they do not know.
  const line = JSONSchema.fromAST(RunEvents.Line.ast, { definitions: $defs, additionalPropertiesStrategy: "allow" })
  const $schema = "http://json-schema.org/draft-07/schema#"
  const schema = { $schema, title: "What dsh run --json prints, line by line", ...line, $defs }
  // Effect names what may be anything, several times in the same way.
  const text = `${JSON.stringify(schema, (key, value: unknown) => (key === "$id" ? undefined : value), 2)}\n`
  if (process.env["DSH_SNAPSHOT"] === "refresh") writeFileSync(schemaFile, text)
  assert.deepStrictEqual(JSON.parse(readFileSync(schemaFile, "utf8")), JSON.parse(text))
})
