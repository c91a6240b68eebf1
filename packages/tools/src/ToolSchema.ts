/**
 * From Effect Schema to what a tool needs of it: the JSON Schema a strict provider accepts, and total validation both ways.
 */
import * as Json from "@dsh/kernel/Json"
import type { Json as JsonValue, JsonObject } from "@dsh/kernel/Json"
import * as Text from "@dsh/kernel/Text"
import * as Thrown from "@dsh/kernel/Thrown"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { ToolError } from "./ToolError.ts"

/** The schema uses something that cannot be told to a strict provider. */
export class UnsupportedSchema extends Error {
  readonly code = "UNSUPPORTED_SCHEMA"
  constructor(tool: string, path: string, reason: string) {
    super(
      `tool "${tool}": the schema at ${path} ${reason}; use strings, numbers, booleans, literals, arrays, structs and unions`
    )
    this.name = "UnsupportedSchema"
  }
}

export interface Codec<A, V> {
  readonly parameters: JsonObject
  /** Of the encoded value, in the same subset; `{}` where that cannot say it. */
  readonly output: () => JsonObject
  readonly decodeArgs: (args: JsonValue) => Effect.Effect<A, ToolError>
  /** `predicate` of valid arguments; `false` for invalid ones or when something throws. */
  readonly check: (args: JsonValue, predicate: (valid: A) => boolean) => boolean
  readonly encodeOutput: (value: V) => Effect.Effect<JsonValue, ToolError>
  readonly decodeOutput: (value: JsonValue) => Effect.Effect<V, ToolError>
}

const options = { errors: "all" } as const

// The scheduler passes on as a string what it could not parse.
const notAnObject =
  "they are not a JSON object; write one, and if the call was cut off by the output limit, split it into smaller calls"

export const codec = <A, AI, V, VI>(
  tool: string,
  parameters: Schema.Schema<A, AI>,
  output: Schema.Schema<V, VI>
): Codec<A, V> => {
  const decodeArgs = lazily(() => Schema.decodeUnknownEither(parameters, options))
  const encodeOutput = lazily(() => Schema.encodeUnknownEither(output, options))
  const decodeOutput = lazily(() => Schema.decodeUnknownEither(output, options))

  const invalidOutput = (reason: string, cause?: unknown) =>
    new ToolError({
      code: "INVALID_TOOL_OUTPUT",
      message: `${tool} returned a value that does not fit its own output schema: ${reason}`,
      cause
    })

  const invalidArgs = (reason: string, cause?: unknown) =>
    new ToolError({ code: "INVALID_ARGS", message: `invalid arguments for ${tool}: ${reason}`, cause })

  const decode = (args: JsonValue): Either.Either<A, ToolError> =>
    isRecord(args)
      ? Either.mapLeft(decodeArgs()(args), (error) => invalidArgs(violations(error), error))
      : Either.left(invalidArgs(notAnObject))

  return {
    parameters: strict(tool, parameters),
    output: lazily(() => told(tool, output)),
    // Suspended: a transformation of the schema may throw.
    decodeArgs: (args) => Effect.suspend(() => decode(args)),
    check: (args, predicate) => {
      try {
        const valid = decode(args)
        return Either.isRight(valid) && predicate(valid.right)
      } catch {
        return false
      }
    },
    encodeOutput: (value) =>
      Effect.suspend(() =>
        encodeOutput()(value).pipe(
          Either.mapLeft((error) => invalidOutput(violations(error), error)),
          Either.flatMap((encoded) => Either.mapLeft(Json.snapshot(encoded), (error) => invalidOutput(error.message)))
        )
      ),
    decodeOutput: (value) =>
      Effect.suspend(() => Either.mapLeft(decodeOutput()(value), (error) => invalidOutput(violations(error), error)))
  }
}

/** Most tools are told to the model and never called, and no decoder is needed for that. */
const lazily = <A>(make: () => A): (() => A) => {
  let made: A | undefined
  return () => (made ??= make())
}

/** The violations with their paths: `missing required path; limit: Expected a positive number, actual -1`. */
const violations = (error: ParseResult.ParseError): string => {
  const all = ParseResult.ArrayFormatter.formatErrorSync(error)
  // A field that may be left out is a union with undefined, which JSON cannot say.
  const sayable = all.filter(({ message }) => !message.startsWith("Expected undefined,"))
  const found = (sayable.length === 0 ? all : sayable).map(({ _tag, message, path }) => {
    const name = path.map(String).join(".")
    if (_tag === "Missing") return `missing required ${name}`
    // Messages quote what was wrong, which may be the body of a whole file.
    return Text.ellipsis(name === "" ? message : `${name}: ${message}`, 500)
  })
  const more = found.length - mostShown
  return [...found.slice(0, mostShown), ...(more > 0 ? [`and ${more} more`] : [])].join("; ")
}

const mostShown = 10

// -----------------------------------------------------------------------------
// the subset
// -----------------------------------------------------------------------------

const kept = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "enum",
  "const",
  "description",
  "default"
])
/** Validated by us; a strict provider refuses them, so they are left to the description. */
const validatedHere =
  /^(?:(?:min|max|exclusive)[A-Z]\w+|(?:min|max)imum|multipleOf|pattern|format|title|examples|uniqueItems|\$id|\$comment|\$schema|\$defs)$/

type Definitions = { readonly [name: string]: unknown }

const strict = (tool: string, schema: Schema.Schema.Any): JsonObject => {
  const root = generate(tool, schema)
  const parameters = translate(tool, "$", root, root.$defs ?? {}, [])
  if (parameters["type"] !== "object") throw new UnsupportedSchema(tool, "$", "is not an object")
  return parameters
}

/** Values are not told to providers: one that has no schema is simply not described. */
const told = (tool: string, schema: Schema.Schema.Any): JsonObject => {
  try {
    const root = generate(tool, schema)
    return translate(tool, "$", root, root.$defs ?? {}, [])
  } catch (error) {
    if (error instanceof UnsupportedSchema) return {}
    throw error
  }
}

const generate = (tool: string, schema: Schema.Schema.Any): { readonly $defs?: Definitions } => {
  try {
    return JSONSchema.make(schema, { target: "jsonSchema2019-09" })
  } catch (error) {
    const reason = Thrown.messageOf(error)?.replace(/\s*\n\s*/g, "; ")
    throw new UnsupportedSchema(tool, "$", `has no JSON Schema (${reason ?? "it threw"})`)
  }
}

const translate = (
  tool: string,
  path: string,
  schema: unknown,
  definitions: Definitions,
  seen: ReadonlyArray<string>
): JsonObject => {
  if (!isRecord(schema)) throw new UnsupportedSchema(tool, path, "is not a schema")
  // `Struct({})`, which Effect reads as "anything but null and undefined".
  if (schema["$id"] === "/schemas/%7B%7D") {
    const { description } = schema
    const noted = typeof description === "string" ? { description } : {}
    return { type: "object", ...noted, properties: {}, additionalProperties: false }
  }
  const go = (at: string, inner: unknown, also = seen) => translate(tool, at, inner, definitions, also)
  if (typeof schema["$ref"] === "string") {
    const name = schema["$ref"].slice("#/$defs/".length).replaceAll("~1", "/").replaceAll("~0", "~")
    if (seen.includes(name)) throw new UnsupportedSchema(tool, path, "refers to itself")
    const { $ref: _, ...annotations } = schema
    return { ...go(path, definitions[name], [...seen, name]), ...go(path, annotations) }
  }
  const out: Record<string, JsonValue> = {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === "$id" || validatedHere.test(key)) continue
    if (key === "anyOf" || key === "oneOf") {
      if (!Array.isArray(value)) throw new UnsupportedSchema(tool, path, `has a malformed ${key}`)
      out["oneOf"] = value.map((branch, i) => go(`${path}.${key}[${i}]`, branch))
    } else if (key === "allOf" && Array.isArray(value)) {
      for (const [i, part] of value.entries()) Object.assign(out, go(`${path}.allOf[${i}]`, part))
    } else if (!kept.has(key)) {
      throw new UnsupportedSchema(tool, path, `uses "${key}"`)
    } else if (key === "properties" && isRecord(value)) {
      out[key] = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, go(`${path}.${name}`, inner)]))
    } else if (key === "items" || (key === "additionalProperties" && isRecord(value))) {
      out[key] = go(`${path}.${key}`, value)
    } else {
      out[key] = Either.getOrThrow(Json.snapshot(value))
    }
  }
  return out
}

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)
