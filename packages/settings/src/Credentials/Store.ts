/**
 * What a place for credentials has to be able to do, and what it holds.
 */
import type * as Effect from "effect/Effect"
import type * as Pulse from "../Pulse.ts"
import type { CredentialsError, Record } from "../Credentials.ts"

export interface Content {
  readonly refs: ReadonlyMap<string, string>
  readonly records: ReadonlyMap<string, Record>
}

/** A path below the document, and what comes there; undefined takes it away. */
export type Change =
  | { readonly of: "refs"; readonly name: string; readonly value: string | undefined }
  | { readonly of: "records"; readonly name: string; readonly value: Record | undefined }

export interface Store {
  readonly read: Effect.Effect<Content, CredentialsError>
  /** Nobody else writes between what `make` is told and what it asks for. */
  readonly change: <A, E, R>(
    make: (content: Content) => Effect.Effect<{ readonly change: Change | undefined; readonly value: A }, E, R>
  ) => Effect.Effect<A, CredentialsError | E, R>
  /** Each time somebody else may have changed it. */
  readonly touched: Pulse.Source
}

export const empty: Content = { refs: new Map(), records: new Map() }

/** The content after a change. */
export const changed = (content: Content, change: Change): Content => {
  const refs = new Map(content.refs)
  const records = new Map(content.records)
  if (change.of === "refs") {
    if (change.value === undefined) refs.delete(change.name)
    else refs.set(change.name, change.value)
  } else if (change.value === undefined) records.delete(change.name)
  else records.set(change.name, change.value)
  return { refs, records }
}
