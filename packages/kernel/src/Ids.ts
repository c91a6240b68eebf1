/**
 * Branded identifiers and where they come from. Generation is a service with a default, so that tests and replays can pin it.
 */
import * as Context from "effect/Context"
import type * as Brand from "effect/Brand"
import * as Effect from "effect/Effect"

/** A string that only `brand` can make into the id type `Name`. */
export type Id<Name extends string> = string & Brand.Brand<Name>

/** Trusts `value` to be a `Name`: for ids minted here or already validated at a boundary. */
export const brand =
  <B extends Id<string>>() =>
  (value: string): B =>
    value as B

/** The source of unique ids. Default: random UUIDs. */
export class IdSource extends Context.Reference<IdSource>()("@dsh/kernel/Ids/IdSource", {
  defaultValue: (): { readonly next: () => string } => ({ next: () => globalThis.crypto.randomUUID() })
}) {}

/** A fresh id from the current source. */
export const fresh: Effect.Effect<string> = Effect.map(IdSource, (source) => source.next())

/** Counts instead of rolling dice: `test-1`, `test-2`, … */
export const sequential = (prefix = "test"): { readonly next: () => string } => {
  let n = 0
  return { next: () => `${prefix}-${++n}` }
}
