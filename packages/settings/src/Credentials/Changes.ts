/**
 * Which references of a store are others than before.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Store } from "./Store.ts"

/** Who is told that this process has changed something. */
export type Listeners = Set<() => void>

const own = (listeners: Listeners): Stream.Stream<void> =>
  Stream.asyncPush<void>(
    (emit) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const listener = () => void emit.single(undefined)
          listeners.add(listener)
          return listener
        }),
        (listener) => Effect.sync(() => listeners.delete(listener))
      ),
    { bufferSize: 1, strategy: "sliding" }
  )

/** While the store cannot be read, what was read last is what it holds. */
export const stream = (store: Store, listeners: Listeners): Stream.Stream<string> => {
  const refs = Effect.map(store.read, (content) => content.refs)
  const none: ReadonlyMap<string, string> = new Map()
  return Stream.unwrap(
    Effect.map(
      Effect.orElseSucceed(refs, () => none),
      (first) => {
        let seen = first
        const look = Effect.map(
          Effect.orElseSucceed(refs, () => seen),
          (now): ReadonlyArray<string> => {
            const before = seen
            seen = now
            return Array.from(new Set([...before.keys(), ...now.keys()])).filter(
              (name) => before.get(name) !== now.get(name)
            )
          }
        )
        return Stream.mapConcatChunk(
          Stream.mapEffect(Stream.merge(own(listeners), store.touched), () => look),
          Chunk.fromIterable
        )
      }
    )
  )
}
