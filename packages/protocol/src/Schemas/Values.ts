/**
 * Schemas of the values that everything else is made of.
 */
import type { Json, JsonObject as JsonObjectValue } from "@dsh/kernel/Json"
import * as Schema from "effect/Schema"
import type * as Ids from "../Ids.ts"

/** Any JSON value. */
export const JsonValue: Schema.Schema<Json> = Schema.suspend(() =>
  Schema.Union(Schema.Null, Schema.Boolean, Schema.JsonNumber, Schema.String, Schema.Array(JsonValue), JsonObject)
).annotations({ identifier: "Json" })

export const JsonObject: Schema.Schema<JsonObjectValue> = Schema.Record({
  key: Schema.String,
  value: Schema.suspend(() => JsonValue)
})

export const SessionId: Schema.Schema<Ids.SessionId> = Schema.typeSchema(
  Schema.NonEmptyString.pipe(Schema.brand("SessionId"))
)

export const MessageId: Schema.Schema<Ids.MessageId> = Schema.typeSchema(
  Schema.NonEmptyString.pipe(Schema.brand("MessageId"))
)

export const CallId: Schema.Schema<Ids.CallId> = Schema.typeSchema(Schema.NonEmptyString.pipe(Schema.brand("CallId")))

/** The id as a delta carries it: the block it ends up in has the final one. */
export const DeltaCallId: Schema.Schema<Ids.CallId> = Schema.typeSchema(Schema.String.pipe(Schema.brand("CallId")))

/** Any finite number; providers report some that make no sense. */
export const Amount: Schema.Schema<number> = Schema.JsonNumber

/** How many, or the how-manieth: a non-negative safe integer. */
export const Count: Schema.Schema<number> = Schema.NonNegativeInt

/** Epoch milliseconds; may be negative. */
export const Time: Schema.Schema<number> = Schema.Int

export const Name: Schema.Schema<string> = Schema.NonEmptyString

/** A member that may be absent, and is never `undefined`. */
export const maybe = <A>(schema: Schema.Schema<A>) => Schema.optionalWith(schema, { exact: true })

/**
 * The variants that extensions add to a union by interface merging: an object whose `key` is none of `core`. In a program without
 * such extensions the type is `never`.
 */
export const extension = <A>(key: "type" | "kind", core: ReadonlyArray<string>): Schema.Schema<A> => {
  const taken = new Set(core)
  const is = (value: unknown): value is A => {
    if (typeof value !== "object" || value === null) return false
    const tag: unknown = Reflect.get(value, key)
    return typeof tag === "string" && tag !== "" && !taken.has(tag)
  }
  return Schema.declare(is, {
    jsonSchema: {
      type: "object",
      required: [key],
      properties: { [key]: { type: "string", minLength: 1, not: { enum: core } } }
    },
    arbitrary: () => (fc) => fc.constant<unknown>({ [key]: "acme/extra" }).filter(is)
  })
}
