/**
 * Stores live sessions as they go: logging never waits for storage, storage never misses an event.
 *
 * An event is stored 200 ms after the first one that is waiting, at once when a turn ends, and before `Sessions.flush` returns. The
 * feature has no output; it must be closed after whatever owns sessions, so provide it underneath those layers. Sessions that are live
 * before it is built are not picked up.
 */
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { SessionId } from "@dsh/protocol/Ids"
import type { Session } from "@dsh/session/Session"
import { SessionError } from "@dsh/session/SessionError"
import {
  SessionCreated,
  SessionDisposed,
  SessionFlush,
  SessionRead,
  SessionRestore,
  Sessions
} from "@dsh/session/Sessions"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type { PersistenceError } from "./PersistenceError.ts"
import { SessionPersistence } from "./SessionPersistence.ts"
import * as WriteQueue from "./WriteBehind/WriteQueue.ts"

/** How long an event may wait to be stored, in milliseconds. */
export const windowMillis = 200

interface Attached {
  readonly session: Session
  readonly queue: WriteQueue.WriteQueue<PersistenceError>
  readonly scope: Scope.CloseableScope
}

/** After every other handler: none may veto a session that is stored already, or log into one that is stored no longer. */
const last = { order: 1000 }

export const layer: Layer.Layer<
  never,
  never,
  SessionPersistence | Sessions | SessionCreated | SessionDisposed | SessionFlush | SessionRead | SessionRestore
> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const persistence = yield* SessionPersistence
    const sessions = yield* Sessions
    const attached = new Map<SessionId, Attached>()
    // How many events of a session that is being resumed are stored.
    const restored = new Map<SessionId, number>()

    const open = (session: Session) =>
      Effect.andThen(
        restored.has(session.id)
          ? Effect.void
          : Effect.mapError(persistence.create(session.header), (error) => refusal(session.id, error)),
        WriteQueue.make<PersistenceError>({
          window: windowMillis,
          write: (batch) => persistence.append(session.id, batch),
          onFailure: (cause, unwritten) =>
            Effect.logWarning(`session ${session.id}: ${unwritten} log entries could not be stored yet`, cause)
        })
      )

    const attach = Effect.fnUntraced(function* (session: Session) {
      const scope = yield* Scope.make()
      const queue = yield* Scope.extend(open(session), scope).pipe(
        Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
      )
      // In one go with the registration, so that no event is in both or in neither.
      for (const event of session.range(restored.get(session.id) ?? 0)) queue.push(event, false)
      attached.set(session.id, { session, queue, scope })
    })

    const detach = Effect.fnUntraced(function* ({ queue, scope, session }: Attached) {
      yield* queue.flush
      attached.delete(session.id)
      yield* Scope.close(scope, Exit.void)
    })

    yield* Effect.addFinalizer(() =>
      Effect.forEach(
        [...attached.values()],
        (one) =>
          Effect.catchAll(detach(one), (error) =>
            Effect.andThen(
              Effect.logError(`session ${one.session.id}: ${one.queue.size()} log entries are lost`, error),
              Scope.close(one.scope, Exit.void)
            )
          ),
        { concurrency: "unbounded", discard: true }
      )
    )

    yield* sessions.observe((session, entry) => attached.get(session.id)?.queue.push(entry, endsTurn(entry)))

    const restore = Effect.fnUntraced(function* (id: SessionId) {
      const { entries, header, length } = yield* persistence.resume(id)
      yield* Effect.acquireRelease(
        Effect.sync(() => void restored.set(id, length)),
        () => Effect.sync(() => void restored.delete(id))
      )
      return { header, entries }
    })

    yield* (yield* SessionRead).use("write-behind", (id) =>
      persistence.load(id).pipe(
        Effect.map(Option.some),
        Effect.catchIf(
          (error) => error.code === "SESSION_NOT_FOUND",
          () => Effect.succeedNone
        ),
        Effect.mapError((error) => refusal(id, error))
      )
    )

    yield* (yield* SessionRestore).use("write-behind", ({ id, scope }) =>
      restore(id).pipe(
        Scope.extend(scope),
        Effect.map(Option.some),
        Effect.catchIf(
          (error) => error.code === "SESSION_NOT_FOUND",
          () => Effect.succeedNone
        ),
        Effect.mapError((error) => refusal(id, error))
      )
    )

    yield* (yield* SessionCreated).use("write-behind", attach, last)

    yield* (yield* SessionDisposed).use(
      "write-behind",
      (session) => {
        const one = attached.get(session.id)
        if (one?.session !== session) return Effect.void
        return Effect.catchAll(detach(one), (error) =>
          Effect.logError(
            `session ${session.id} ended with ${one.queue.size()} log entries not stored; they are tried again at shutdown`,
            error
          )
        )
      },
      last
    )

    yield* (yield* SessionFlush).use("write-behind", (session) => {
      const one = attached.get(session.id)
      if (one?.session !== session) return Effect.void
      return Effect.mapError(one.queue.flush, (error) => flushFailed(session, error))
    })
  })
)

const endsTurn = (entry: LogEntry): boolean => "type" in entry && entry.type === "turn/end"

const flushFailed = (session: Session, cause: PersistenceError) =>
  new SessionError({
    code: "FLUSH_FAILED",
    sessionId: session.id,
    message: `the log of session ${session.id} could not be stored: ${cause.message}`,
    cause
  })

const refusal = (sessionId: SessionId, cause: PersistenceError) =>
  new SessionError({
    code: cause.code === "SESSION_ALREADY_EXISTS" || cause.code === "SESSION_IN_USE" ? cause.code : "STORAGE_REFUSED",
    sessionId,
    message: cause.message,
    cause
  })
