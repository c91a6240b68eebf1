/**
 * The store of live sessions: one per id, each owned by the Scope that created it.
 */
import * as Hook from "@dsh/kernel/Hook"
import * as Ids from "@dsh/kernel/Ids"
import * as Thrown from "@dsh/kernel/Thrown"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import { SessionId } from "@dsh/protocol/Ids"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import * as Header from "@dsh/protocol/SessionHeader"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as EventTypes from "./EventTypes.ts"
import * as Session from "./Session.ts"
import { hold, tell } from "./Session/Listening.ts"
import type { Listening } from "./Session/Listening.ts"
import { SessionError } from "./SessionError.ts"

// -----------------------------------------------------------------------------
// extension points
// -----------------------------------------------------------------------------

/** A session entered the store. The first failure takes it out again: it never existed. */
export class SessionCreated extends Hook.Serial<SessionCreated, Session.Session, SessionError>()("session/created") {}

/** A session that was announced is closed and about to leave the store: it takes no more events, and its id is still taken. */
export class SessionDisposed extends Hook.Emit<SessionDisposed, Session.Session>()("session/disposed") {}

/** Make durable what was logged so far. Everyone is awaited, then the first failure is raised. */
export class SessionFlush extends Hook.Parallel<SessionFlush, Session.Session, SessionError>()("session/flush") {}

// -----------------------------------------------------------------------------
// service
// -----------------------------------------------------------------------------

export interface CreateOptions extends Partial<Omit<SessionHeader, "version" | "id" | "createdAt">> {
  /** Default: `session-<uuid>`. */
  readonly id?: SessionId
  /** Events to start from; see `Session.MakeOptions.seed`. */
  readonly seed?: Iterable<SessionEvent>
}

export class Sessions extends Context.Tag("@dsh/session/Sessions")<
  Sessions,
  {
    /** A live session that leaves the store when the current Scope closes. Fails with `SESSION_ALREADY_EXISTS` for a taken id. */
    readonly create: (options?: CreateOptions) => Effect.Effect<Session.Session, SessionError, Scope.Scope>
    readonly get: (id: SessionId) => Session.Session | undefined
    readonly list: () => ReadonlyArray<Session.Session>
    /** Waits until everything logged so far is durable. Fails when it is not, or with `SESSION_NOT_FOUND`. */
    readonly flush: (id: SessionId) => Effect.Effect<void, SessionError>
    /** Hears every entry of every session, each session's in order. Synchronous like `Session.Observer`. */
    readonly observe: (
      observer: (session: Session.Session, entry: LogEntry) => void
    ) => Effect.Effect<void, never, Scope.Scope>
  }
>() {}

type Services = EventTypes.EventTypes | SessionCreated | SessionDisposed | SessionFlush

export const make: Effect.Effect<Sessions["Type"], never, Services> = Effect.gen(function* () {
  const types = yield* EventTypes.EventTypes
  const created = yield* SessionCreated
  const disposed = yield* SessionDisposed
  const flushing = yield* SessionFlush
  const live = new Map<SessionId, Session.OwnedSession>()
  const observers: Listening<(session: Session.Session, entry: LogEntry) => void> = new Set()
  const isKnownType = (type: string) => EventTypes.isCore(type) || Option.isSome(types.get(type))
  const isIgnorable = (type: string) => Option.exists(types.get(type), (info) => info.ignorable)

  const enter = (session: Session.OwnedSession) =>
    Effect.acquireRelease(
      Effect.suspend(() => {
        if (live.has(session.id)) {
          return Effect.fail(
            new SessionError({
              code: "SESSION_ALREADY_EXISTS",
              sessionId: session.id,
              message: `session ${session.id} is already live; choose another id or use the live one`
            })
          )
        }
        live.set(session.id, session)
        return Effect.void
      }),
      () => Effect.sync(() => void live.delete(session.id))
    )

  const create = Effect.fn("Sessions.create")(function* (options: CreateOptions = {}) {
    const { id: chosen, seed, ...fields } = options
    const id = chosen ?? SessionId(`session-${yield* Ids.fresh}`)
    const createdAt = yield* Clock.currentTimeMillis
    const header = Header.make({ ...fields, id, createdAt })
    if (Either.isLeft(header)) {
      const { code, message } = header.left
      return yield* new SessionError({ code, sessionId: id, message })
    }
    const session = yield* Session.make({
      header: header.right,
      isKnownType,
      isIgnorable,
      ...(seed !== undefined && { seed })
    })
    // A scope of its own: a veto undoes the entry at once, not when the owner ends.
    const scope = yield* Effect.acquireRelease(Scope.make(), (own, exit) => Scope.close(own, exit))
    return yield* Effect.gen(function* () {
      yield* enter(session)
      yield* session.observe((entry) => {
        const failures = tell(observers, (observer) => observer(session, entry))
        if (failures.length > 0) throw new AggregateError(failures, failures.map(Thrown.messageOf).join("; "))
      })
      yield* Effect.addFinalizer(() => Effect.zipRight(session.close, disposed.emit(session)))
      yield* created.run(session)
      return session as Session.Session
    }).pipe(
      Effect.provideService(Scope.Scope, scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
  })

  return Sessions.of({
    create,
    get: (id) => live.get(id),
    list: () => [...live.values()],
    flush: (id) =>
      Effect.suspend(() => {
        const session = live.get(id)
        if (session !== undefined) return flushing.run(session)
        return Effect.fail(
          new SessionError({ code: "SESSION_NOT_FOUND", sessionId: id, message: `session ${id} is not live` })
        )
      }),
    observe: (observer) => hold(observers, observer)
  })
})

/** The store and its extension points. */
export const layer: Layer.Layer<Sessions | Services> = Layer.provideMerge(
  Layer.effect(Sessions, make),
  Layer.mergeAll(EventTypes.layer, SessionCreated.layer, SessionDisposed.layer, SessionFlush.layer)
)
