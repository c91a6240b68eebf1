/**
 * Streams of chunks that can be read without a Stream runtime.
 *
 * The contract of a model is a `Stream`, which middleware can transform like any other. But running one costs several hundred runtime
 * operations before the first chunk, in code that is still cold at the tenth step of an agent. A stream that was made from a pull, and
 * that nobody has transformed since, is read by that pull.
 */
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import type * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { LlmError } from "./LlmError.ts"

/** The next array of chunks, one per network read; `None` at the end. */
export type Pull = Effect.Effect<Chunk.Chunk<StreamChunk>, Option.Option<LlmError>>

const pulls = new WeakMap<object, Effect.Effect<Pull, never, Scope.Scope>>()

/** A cold stream: each run acquires a pull, and releases it with its Scope. */
export const fromPull = (acquire: Effect.Effect<Pull, never, Scope.Scope>): Stream.Stream<StreamChunk, LlmError> => {
  const stream = Stream.fromPull(acquire)
  pulls.set(stream, acquire)
  return stream
}

/** Hands every array of chunks to `take`, in order. */
export const forEachArray = <E, R>(
  stream: Stream.Stream<StreamChunk, LlmError>,
  take: (chunks: Chunk.Chunk<StreamChunk>) => Effect.Effect<void, E, R>
): Effect.Effect<void, LlmError | E, R> => {
  const acquire = pulls.get(stream)
  return acquire === undefined
    ? Stream.runForEachChunk(stream, take)
    : Effect.scoped(Effect.flatMap(acquire, (pull) => drain(pull, take)))
}

const drain = <E, R>(
  pull: Pull,
  take: (chunks: Chunk.Chunk<StreamChunk>) => Effect.Effect<void, E, R>
): Effect.Effect<void, LlmError | E, R> => {
  const next: Effect.Effect<void, LlmError | E, R> = Effect.matchEffect(pull, {
    onSuccess: (chunks) => Effect.zipRight(take(chunks), next),
    onFailure: (error) => (error._tag === "None" ? Effect.void : Effect.fail(error.value))
  })
  return next
}
