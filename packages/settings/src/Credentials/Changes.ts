/**
 * Which references of a store are others than before.
 */
import * as Effect from "effect/Effect"
import type { Store } from "./Store.ts"

/** Looks for the first time, and says how to look again. While the store cannot be read, what was read last is what it holds. */
export const begin = (store: Store): Effect.Effect<Effect.Effect<ReadonlyArray<string>>> => {
  const refs = Effect.map(store.read, (content) => content.refs)
  const none: ReadonlyMap<string, string> = new Map()
  return Effect.map(
    Effect.orElseSucceed(refs, () => none),
    (first) => {
      let seen = first
      return Effect.map(
        Effect.orElseSucceed(refs, () => seen),
        (now): ReadonlyArray<string> => {
          const before = seen
          seen = now
          return Array.from(new Set([...before.keys(), ...now.keys()])).filter(
            (name) => before.get(name) !== now.get(name)
          )
        }
      )
    }
  )
}
