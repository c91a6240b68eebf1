/**
 * Answers that are JSON and fit a JSON Schema, of draft 2020-12 or draft-07.
 */
import { Ajv } from "ajv"
import type { ErrorObject } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import * as Effect from "effect/Effect"
import { FormError } from "./Form.ts"
import type { Fits, Form, Misfit } from "./Form.ts"

/** The rest is seen at the next try. */
const mostViolations = 10

/** Nothing is fetched: what the schema refers to has to be in it. Fails with `INVALID_OUTPUT_SCHEMA`. */
export const make = (schema: unknown): Effect.Effect<Form, FormError> =>
  Effect.suspend(() => {
    if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return unusable("it is no JSON object")
    const draft = "$schema" in schema ? String(schema.$schema) : "2020-12"
    const Validator = /2020-12/.test(draft) ? Ajv2020 : /draft-07/.test(draft) ? Ajv : undefined
    if (Validator === undefined) return unusable(`its $schema is ${draft}; use draft 2020-12 or draft-07`)
    return Effect.try({
      try: () => {
        const ajv = new Validator({ allErrors: true, strict: false, logger: false })
        formats.default(ajv)
        return ajv.compile(schema)
      },
      catch: (error) => invalid(error instanceof Error ? error.message : String(error))
    }).pipe(
      Effect.map((validate) => ({
        instruction: instruction(schema),
        judge: (answer) => {
          const text = bare(answer)
          let value: unknown
          try {
            value = JSON.parse(text)
          } catch (error) {
            return misfit(`it is no JSON (${error instanceof Error ? error.message : String(error)})`)
          }
          if (validate(value)) return { fits: true, value, text } satisfies Fits
          return misfit((validate.errors ?? []).slice(0, mostViolations).map(violation).join("; "))
        }
      }))
    )
  })

const invalid = (why: string) =>
  new FormError({ code: "INVALID_OUTPUT_SCHEMA", message: `the schema of the answer cannot be used: ${why}` })

const unusable = (why: string): Effect.Effect<never, FormError> => invalid(why)

const instruction = (schema: object): string =>
  [
    "A program reads your last message. It has to be one JSON value that fits this JSON Schema, without anything before or after it:",
    "",
    JSON.stringify(schema)
  ].join("\n")

const misfit = (why: string): Misfit => ({
  fits: false,
  message: `the answer does not fit its schema: ${why}`,
  complaint: `Your last message does not fit the JSON Schema it has to fit: ${why}. Answer again with the JSON value alone.`
})

/** Models like to put what they were asked for into a code fence. */
const bare = (answer: string): string => {
  const text = answer.trim()
  return /^```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n?```$/i.exec(text)?.[1]?.trim() ?? text
}

const violation = ({ instancePath, keyword, message = keyword, params }: ErrorObject): string => {
  const where = instancePath === "" ? "the value" : instancePath
  const named: unknown = params["additionalProperty"] ?? params["unevaluatedProperty"] ?? params["allowedValues"]
  const what =
    named === undefined
      ? ""
      : ` (${Array.isArray(named) ? named.map((one) => JSON.stringify(one)).join(", ") : String(named)})`
  return `${where} ${message}${what}`
}
