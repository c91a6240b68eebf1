/**
 * Which references of a store are others than before.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import type { Store } from "./Store.ts"

export interface Changes {
  readonly changes: Stream.Stream<string>
  /** This process has changed something. */
  readonly told: Effect.Effect<void>
}

/** While the store cannot be read, what was read last is what it holds. */
export const make = (store: Store): Effect.Effect<Changes> =>
  Effect.map(PubSub.sliding<void>(1), (own) => {
    const refs = Effect.map(store.read, (content) => content.refs)
    const none: ReadonlyMap<string, string> = new Map()
    const changes = Stream.unwrap(
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
            Stream.mapEffect(Stream.merge(Stream.fromPubSub(own), store.touched), () => look),
            Chunk.fromIterable
          )
        }
      )
    )
    return { changes, told: Effect.asVoid(PubSub.publish(own, undefined)) }
  })
