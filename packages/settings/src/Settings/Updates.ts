/**
 * From "the document may have changed" to what changed in it.
 */
import * as Effect from "effect/Effect"
import type { SettingsError, Update } from "../Settings.ts"

export interface Source<A extends { readonly stamp: string }> {
  readonly read: Effect.Effect<A, SettingsError>
  /** The sections that count. */
  readonly names: () => ReadonlyArray<string>
  readonly revisionIn: (snapshot: A, name: string) => string
}

/**
 * Looks for the first time, and says how to look again: what it was when it began is no update. A fault is told once, until there is
 * another one or none.
 */
export const begin = <A extends { readonly stamp: string }>({
  names,
  read,
  revisionIn
}: Source<A>): Effect.Effect<Effect.Effect<ReadonlyArray<Update>>> =>
  Effect.map(Effect.either(read), (first) => {
    let seen = first._tag === "Right" ? first.right : undefined
    let fault = first._tag === "Left" ? first.left.message : undefined

    return Effect.map(Effect.either(read), (found): ReadonlyArray<Update> => {
      if (found._tag === "Left") {
        const isNews = fault !== found.left.message
        fault = found.left.message
        return isNews ? [{ _tag: "Fault", error: found.left }] : []
      }
      const [before, now] = [seen, found.right]
      fault = undefined
      seen = now
      if (before?.stamp === now.stamp) return []
      const changed = names().filter(
        (name) => before === undefined || revisionIn(before, name) !== revisionIn(now, name)
      )
      return [...changed.map((name): Update => ({ _tag: "Section", name })), { _tag: "Document" }]
    })
  })
