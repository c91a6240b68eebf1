/**
 * Streams of chunks that can be read without a Stream runtime.
 *
 * The contract of a model is a `Stream`, which middleware can transform like any other. But running one costs several hundred runtime
 * operations before the first chunk, in code that is still cold at the tenth step of an agent. A stream that was made from a source, and
 * that nobody has transformed since, is read by pulling that source.
 */
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import type * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { LlmError } from "./LlmError.ts"

/** The next array of chunks, one per network read; `None` at the end. */
export type Pull = Effect.Effect<Chunk.Chunk<StreamChunk>, Option.Option<LlmError>>

/** A request under way. */
export interface Source {
  readonly pull: Pull
  /** Ends it, wherever it stands. */
  readonly close: Effect.Effect<void>
}

const sources = new WeakMap<object, Effect.Effect<Source>>()

/** A cold stream: each run starts a source and closes it. */
export const fromSource = (start: Effect.Effect<Source>): Stream.Stream<StreamChunk, LlmError> => {
  const stream = Stream.fromPull(
    Effect.map(
      Effect.acquireRelease(start, ({ close }) => close),
      ({ pull }) => pull
    )
  )
  sources.set(stream, start)
  return stream
}

/** The same stream, each run looked at by a `look` of its own: an error that it finds ends the stream in the place of that array. */
export const watched = (
  stream: Stream.Stream<StreamChunk, LlmError>,
  look: () => (chunks: Chunk.Chunk<StreamChunk>) => LlmError | undefined
): Stream.Stream<StreamChunk, LlmError> => {
  const start = sources.get(stream)
  if (start === undefined) {
    return Stream.suspend(() => {
      const found = look()
      return Stream.mapChunksEffect(stream, (chunks) => {
        const error = found(chunks)
        return error === undefined ? Effect.succeed(chunks) : Effect.fail(error)
      })
    })
  }
  return fromSource(
    Effect.map(start, ({ close, pull }) => {
      const found = look()
      return {
        close,
        pull: Effect.flatMap(pull, (chunks) => {
          const error = found(chunks)
          return error === undefined ? Effect.succeed(chunks) : Effect.fail(Option.some(error))
        })
      }
    })
  )
}

/** Hands every array of chunks to `take`, in order. */
export const forEachArray = <E, R>(
  stream: Stream.Stream<StreamChunk, LlmError>,
  take: (chunks: Chunk.Chunk<StreamChunk>) => Effect.Effect<void, E, R>
): Effect.Effect<void, LlmError | E, R> => {
  const start = sources.get(stream)
  return start === undefined
    ? Stream.runForEachChunk(stream, take)
    : // Not a Scope: its finalizers compare all the services of the fiber, which takes longer than the rest of this.
      Effect.acquireUseRelease(
        start,
        ({ pull }) => drain(pull, take),
        ({ close }) => close
      )
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
