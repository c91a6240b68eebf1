/**
 * The store of live sessions: one per id, each owned by the Scope that created it.
 */
import * as Hook from "@dsh/kernel/Hook"
import * as Ids from "@dsh/kernel/Ids"
import * as Thrown from "@dsh/kernel/Thrown"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import { SessionId } from "@dsh/protocol/Ids"
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
import * as Inherited from "./Sessions/Inherited.ts"
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

export interface Stored {
  readonly header: SessionHeader
  /** The log, in order. */
  readonly entries: ReadonlyArray<LogEntry>
}

/** Asks whoever keeps sessions for the log of one that is not live, as it is at this moment. Takes and changes nothing. */
export class SessionRead extends Hook.Bail<SessionRead, SessionId, Stored, SessionError>()("session/read") {}

/**
 * Asks whoever keeps sessions for one that is not live. The answer holds the session for its caller until the current Scope closes;
 * nobody answers for a session that is nowhere.
 */
export class SessionRestore extends Hook.Bail<
  SessionRestore,
  { readonly id: SessionId; readonly scope: Scope.Scope },
  Stored,
  SessionError
>()("session/restore") {}

// -----------------------------------------------------------------------------
// service
// -----------------------------------------------------------------------------

export interface CreateOptions extends Partial<Omit<SessionHeader, "version" | "id" | "createdAt">> {
  /** Default: `session-<uuid>`. */
  readonly id?: SessionId
  /** Events to start from; see `Session.MakeOptions.seed`. */
  readonly seed?: Iterable<LogEntry>
}

export interface ForkOptions {
  /** Default: `session-<uuid>`. */
  readonly id?: SessionId
  /** The seq of the last event to inherit. No turn may be open behind it. Default: the last event there is. */
  readonly at?: number
}

export class Sessions extends Context.Tag("@dsh/session/Sessions")<
  Sessions,
  {
    /** A live session that leaves the store when the current Scope closes. Fails with `SESSION_ALREADY_EXISTS` for a taken id. */
    readonly create: (options?: CreateOptions) => Effect.Effect<Session.Session, SessionError, Scope.Scope>
    /**
     * A stored session, live again under its own header until the current Scope closes. `SESSION_NOT_FOUND`, `SESSION_IN_USE`,
     * `SESSION_ALREADY_EXISTS` when it is live, `STORAGE_REFUSED`, `INVALID_SEED`.
     */
    readonly resume: (id: SessionId) => Effect.Effect<Session.Session, SessionError, Scope.Scope>
    /**
     * A new session that begins with the history of another, live or stored: same folder, new id, the source as its parent. Input that
     * was pending is not inherited. `SESSION_NOT_FOUND`, `SESSION_ALREADY_EXISTS`, `INVALID_BOUNDARY`, `OPEN_TURN`.
     */
    readonly fork: (
      source: SessionId,
      options?: ForkOptions
    ) => Effect.Effect<Session.Session, SessionError, Scope.Scope>
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

type Services = EventTypes.EventTypes | SessionCreated | SessionDisposed | SessionFlush | SessionRead | SessionRestore

const notFound = (id: SessionId) =>
  new SessionError({
    code: "SESSION_NOT_FOUND",
    sessionId: id,
    message: `there is no session ${id}; list the sessions to see which ones there are`
  })

export const make: Effect.Effect<Sessions["Type"], never, Services> = Effect.gen(function* () {
  const types = yield* EventTypes.EventTypes
  const created = yield* SessionCreated
  const disposed = yield* SessionDisposed
  const flushing = yield* SessionFlush
  const reading = yield* SessionRead
  const restoring = yield* SessionRestore
  const live = new Map<SessionId, Session.OwnedSession>()
  const observers: Listening<(session: Session.Session, entry: LogEntry) => void> = new Set()
  const isKnownType = (type: string) => EventTypes.isCore(type) || Option.isSome(types.get(type))
  const isIgnorable = (type: string) => Option.exists(types.get(type), (info) => info.ignorable)

  const refuseLive = (id: SessionId) =>
    Effect.suspend(() =>
      live.has(id)
        ? new SessionError({
            code: "SESSION_ALREADY_EXISTS",
            sessionId: id,
            message: `session ${id} is already live; choose another id or use the live one`
          })
        : Effect.void
    )

  const enter = (session: Session.OwnedSession) =>
    Effect.acquireRelease(
      Effect.map(refuseLive(session.id), () => void live.set(session.id, session)),
      () => Effect.sync(() => void live.delete(session.id))
    )

  /** A scope of the session's own: a veto undoes all of it at once, not when the owner ends. */
  const inOwnScope = <A>(use: (scope: Scope.CloseableScope) => Effect.Effect<A, SessionError, Scope.Scope>) =>
    Effect.flatMap(
      Effect.acquireRelease(Scope.make(), (own, exit) => Scope.close(own, exit)),
      (scope) =>
        Effect.provideService(use(scope), Scope.Scope, scope).pipe(
          Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
        )
    )

  const admit = Effect.fnUntraced(function* (session: Session.OwnedSession) {
    yield* enter(session)
    yield* session.observe((entry) => {
      const failures = tell(observers, (observer) => observer(session, entry))
      if (failures.length > 0) throw new AggregateError(failures, failures.map(Thrown.messageOf).join("; "))
    })
    yield* Effect.addFinalizer(() => Effect.zipRight(session.close, disposed.emit(session)))
    yield* created.run(session)
    return session as Session.Session
  })

  const resume = Effect.fn("Sessions.resume")(function* (id: SessionId) {
    yield* refuseLive(id)
    return yield* inOwnScope((scope) =>
      Effect.gen(function* () {
        const stored = yield* restoring.run({ id, scope })
        if (Option.isNone(stored)) return yield* notFound(id)
        const { entries, header } = stored.value
        return yield* admit(yield* Session.make({ header, seed: entries, isKnownType, isIgnorable }))
      })
    )
  })

  const read = (id: SessionId): Effect.Effect<Stored, SessionError> =>
    Effect.suspend(() => {
      const session = live.get(id)
      if (session !== undefined) return Effect.succeed({ header: session.header, entries: [...session.range(0)] })
      return Effect.flatMap(reading.run(id), (stored) =>
        Option.isNone(stored) ? notFound(id) : Effect.succeed(stored.value)
      )
    })

  const fork = Effect.fn("Sessions.fork")(function* (source: SessionId, { at, id }: ForkOptions = {}) {
    if (id !== undefined) yield* refuseLive(id)
    const { entries, header } = yield* read(source)
    const history = yield* Inherited.upTo(source, entries, at)
    return yield* create({
      ...(id !== undefined && { id }),
      ...(header.cwd !== undefined && { cwd: header.cwd }),
      parentSession: source,
      seedLength: history.length,
      seed: history.entries
    })
  })

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
    return yield* inOwnScope(() => admit(session))
  })

  return Sessions.of({
    create,
    resume,
    fork,
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
export const layer: Layer.Layer<Sessions | Services> = Layer.effectContext(
  Effect.suspend(() => {
    const points = Hook.context(SessionCreated, SessionDisposed, SessionFlush, SessionRead, SessionRestore)
    const services = Context.add(points, EventTypes.EventTypes, EventTypes.make())
    return Effect.map(Effect.provide(make, services), (sessions) => Context.add(services, Sessions, sessions))
  })
)
