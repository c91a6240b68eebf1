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
import { SessionCreated, SessionDisposed, SessionFlush, Sessions } from "@dsh/session/Sessions"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
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
  SessionPersistence | Sessions | SessionCreated | SessionDisposed | SessionFlush
> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const persistence = yield* SessionPersistence
    const sessions = yield* Sessions
    const attached = new Map<SessionId, Attached>()

    const open = (session: Session) =>
      Effect.andThen(
        Effect.mapError(persistence.create(session.header), (error) => refusal(session, error)),
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
      for (const event of session.range(0)) queue.push(event, false)
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

const refusal = (session: Session, cause: PersistenceError) =>
  cause.code === "SESSION_ALREADY_EXISTS"
    ? new SessionError({ code: cause.code, sessionId: session.id, message: cause.message, cause })
    : flushFailed(session, cause)
