/**
 * What is shown of a section.
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { Registration, View } from "../Settings.ts"
import * as Secret from "../Secret.ts"

interface Now {
  readonly user: unknown
  /** Decoded. */
  readonly value: unknown
  readonly revision: string
}

export const make = (
  { applies = "live", base, name, schema }: Registration<unknown, unknown>,
  { revision, user, value }: Now
): View => {
  // What was decoded can be encoded; a schema that only reads shows what was read.
  const encoded = Either.getOrElse(Schema.encodeEither(schema)(value), () => value)
  const secrets = Secret.find(schema.ast, encoded)
  const shown = (part: unknown) =>
    Secret.without(
      part,
      [...secrets, ...Secret.find(schema.ast, part)].map(({ path }) => path)
    )
  return {
    name,
    schema,
    value: shown(encoded),
    ...(base !== undefined && { base: shown(base) }),
    ...(user !== undefined && { user: shown(user) }),
    applies,
    secrets,
    revision
  }
}
