/**
 * Files of a folder that somebody else may change. Only who runs the stream pays for looking.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { watch } from "node:fs"

/** As long as an editor needs for all that it does to a file at once. */
const settled = "100 millis"

/**
 * Once when it begins to look, and each time files of those names have come to rest after a change. A folder that cannot be watched, for
 * it is not there or the system has no more watches, is one that never changes.
 *
 * @param path Absolute.
 */
export const folder = (path: string, isMeant: (name: string) => boolean): Stream.Stream<void> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const touches = yield* Queue.sliding<void>(1)
      const touch = () => void touches.unsafeOffer(undefined)
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          try {
            const watcher = watch(path, { persistent: false }, (_, name) => {
              // Without a name it may have been any.
              if (name === null || isMeant(name)) touch()
            })
            // A folder that is taken away is not watched any more.
            watcher.on("error", () => watcher.close())
            return watcher
          } catch {
            return undefined
          }
        }),
        (watcher) => Effect.sync(() => watcher?.close())
      )
      touch()
      return Stream.repeatEffect(Effect.zipRight(Queue.take(touches), rest(touches)))
    })
  )

/** Until nothing comes for a while. */
const rest = (touches: Queue.Dequeue<void>): Effect.Effect<void> =>
  Effect.flatMap(Effect.delay(Queue.takeAll(touches), settled), (more) =>
    Chunk.isEmpty(more) ? Effect.void : rest(touches)
  )
