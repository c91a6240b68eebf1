/**
 * Files of a folder that somebody else may change. Only who listens pays for looking.
 */
import * as Effect from "effect/Effect"
import { watch } from "node:fs"
import * as Pulse from "./Pulse.ts"

/** As long as an editor needs for all that it does to a file at once. */
const settledMs = 100

/**
 * Touched when files of those names have come to rest after a change. A folder that cannot be watched, for it is not there or the system
 * has no more watches, is one that never changes.
 *
 * @param path Absolute.
 */
export const folder = (path: string, isMeant: (name: string) => boolean): Pulse.Source =>
  Pulse.settled((touch) => {
    const begin = Effect.sync(() => {
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
    })
    return Effect.acquireRelease(begin, (watcher) => Effect.sync(() => watcher?.close()))
  }, settledMs)
