/**
 * Syncs what was written without it, once a second while there is any: one fiber for all sessions, one disk at a time.
 */
import type { SessionId } from "@dsh/protocol/Ids"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { PersistenceError } from "../PersistenceError.ts"

export interface SyncLoop {
  /** Asks for a sync within a second. */
  readonly schedule: (id: SessionId) => void
}

export const make = (
  sync: (id: SessionId) => Effect.Effect<void, PersistenceError>
): Effect.Effect<SyncLoop, never, Scope.Scope> =>
  Effect.gen(function* () {
    const due = new Set<SessionId>()
    const work = Effect.unsafeMakeLatch(false)

    const round = Effect.suspend(() => {
      const ids = [...due]
      due.clear()
      work.unsafeClose()
      return Effect.forEach(
        ids,
        (id) =>
          // The next write, the next flush and the end of the session try again.
          Effect.catchAll(sync(id), (error) => Effect.logWarning(`session ${id} could not be synced`, error)),
        { discard: true }
      )
    })

    yield* work.await.pipe(
      Effect.zipRight(Effect.sleep("1 second")),
      Effect.zipRight(round),
      Effect.forever,
      Effect.forkScoped
    )

    return {
      schedule: (id) => {
        due.add(id)
        work.unsafeOpen()
      }
    }
  })
