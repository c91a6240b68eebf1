/**
 * The form that the answer of a run has to have, from the file that says so. Loaded only when there is one.
 */
import type { Form } from "@dsh/structured-output/Form"
import * as JsonSchemaForm from "@dsh/structured-output/JsonSchemaForm"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import * as Failure from "./Failure.ts"

const code = "INVALID_OUTPUT_SCHEMA"

/** Fails with exit code 3. */
export const load = (file: string): Effect.Effect<Form, Failure.Failure> =>
  Effect.gen(function* () {
    const schema = yield* Effect.try({
      try: (): unknown => JSON.parse(readFileSync(file, "utf8")),
      catch: (cause) => Failure.configuration(code, `${file} cannot be read as a JSON Schema (${String(cause)})`)
    })
    return yield* Effect.mapError(JsonSchemaForm.make(schema), ({ message }) =>
      Failure.configuration(code, `${file}: ${message}`)
    )
  })
