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
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as EventTypes from "./EventTypes.ts"
import { Lives } from "./Lives.ts"
import type { Life } from "./Lives.ts"
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

export type SessionHooks = SessionCreated | SessionDisposed | SessionFlush | SessionRead | SessionRestore

// -----------------------------------------------------------------------------
// service
// -----------------------------------------------------------------------------

export interface InRealm<E = never, R = never> {
  /** Whose hooks hear of the session, for as long as it lives. Made when its header is known. Default: those of the store. */
  readonly realm?: (header: SessionHeader) => Effect.Effect<Context.Context<SessionHooks>, E, R>
  /** Who is asked for a session that is not live. Default: the hooks of the store. */
  readonly keepers?: Context.Context<SessionHooks>
}

export interface CreateOptions<E = never, R = never>
  extends InRealm<E, R>, Partial<Omit<SessionHeader, "version" | "id" | "createdAt">> {
  /** Default: `session-<uuid>`. */
  readonly id?: SessionId
  /** Events to start from; see `Session.MakeOptions.seed`. */
  readonly seed?: Iterable<LogEntry>
}

export interface ForkOptions<E = never, R = never> extends InRealm<E, R> {
  /** Default: `session-<uuid>`. */
  readonly id?: SessionId
  /** The seq of the last event to inherit. No turn may be open behind it. Default: the last event there is. */
  readonly at?: number
}

export class Sessions extends Context.Tag("@dsh/session/Sessions")<
  Sessions,
  {
    /** A live session that leaves the store when the current Scope closes. Fails with `SESSION_ALREADY_EXISTS` for a taken id. */
    readonly create: <E = never, R = never>(
      options?: CreateOptions<E, R>
    ) => Effect.Effect<Session.Session, SessionError | E, R | Scope.Scope>
    /**
     * A stored session, live again under its own header until the current Scope closes. One that is just ending is waited for.
     * `SESSION_NOT_FOUND`, `SESSION_IN_USE`, `SESSION_ALREADY_EXISTS` when it is live, `STORAGE_REFUSED`, `INVALID_SEED`.
     */
    readonly resume: <E = never, R = never>(
      id: SessionId,
      options?: InRealm<E, R>
    ) => Effect.Effect<Session.Session, SessionError | E, R | Scope.Scope>
    /**
     * A new session that begins with the history of another, live or stored: same folder, new id, the source as its parent. Input that
     * was pending is not inherited. `SESSION_NOT_FOUND`, `SESSION_ALREADY_EXISTS`, `INVALID_BOUNDARY`, `OPEN_TURN`.
     */
    readonly fork: <E = never, R = never>(
      source: SessionId,
      options?: ForkOptions<E, R>
    ) => Effect.Effect<Session.Session, SessionError | E, R | Scope.Scope>
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

type Services = EventTypes.EventTypes | SessionHooks

interface Live {
  readonly session: Session.OwnedSession
  readonly realm: Context.Context<SessionHooks>
}

const notFound = (id: SessionId) =>
  new SessionError({
    code: "SESSION_NOT_FOUND",
    sessionId: id,
    message: `there is no session ${id}; list the sessions to see which ones there are`
  })

export const make: Effect.Effect<Sessions["Type"], never, Services> = Effect.gen(function* () {
  const types = yield* EventTypes.EventTypes
  const root = yield* Effect.context<SessionHooks>()
  const lives = new Lives<Live>()
  const observers: Listening<(session: Session.Session, entry: LogEntry) => void> = new Set()
  const isKnownType = (type: string) => EventTypes.isCore(type) || Option.isSome(types.get(type))
  const isIgnorable = (type: string) => Option.exists(types.get(type), (info) => info.ignorable)

  const admit = Effect.fnUntraced(function* <E, R>(
    life: Life<Live>,
    { header, seed }: { readonly header: SessionHeader; readonly seed?: Iterable<LogEntry> | undefined },
    realmOf: InRealm<E, R>["realm"]
  ) {
    // First, for its features know the types of the events that are in the log.
    const realm = realmOf === undefined ? root : yield* realmOf(header)
    const more = seed === undefined ? {} : { seed }
    const session = yield* Session.make({ header, isKnownType, isIgnorable, ...more })
    life.value = { session, realm }
    yield* session.observe((entry) => {
      const failures = tell(observers, (observer) => observer(session, entry))
      if (failures.length > 0) throw new AggregateError(failures, failures.map(Thrown.messageOf).join("; "))
    })
    yield* Effect.addFinalizer(() => Effect.zipRight(session.close, Context.get(realm, SessionDisposed).emit(session)))
    yield* Context.get(realm, SessionCreated).run(session)
    return session as Session.Session
  })

  const resume = Effect.fn("Sessions.resume")(function* <E, R>(
    id: SessionId,
    { keepers = root, realm }: InRealm<E, R> = {}
  ) {
    yield* lives.settled(id)
    return yield* lives.begin(id, (life) =>
      Effect.gen(function* () {
        const stored = yield* Context.get(keepers, SessionRestore).run({ id, scope: life.scope })
        if (Option.isNone(stored)) return yield* notFound(id)
        const { entries, header } = stored.value
        return yield* admit(life, { header, seed: entries }, realm)
      })
    )
  })

  const read = (id: SessionId, keepers: Context.Context<SessionHooks>): Effect.Effect<Stored, SessionError> =>
    Effect.suspend(() => {
      const session = lives.get(id)?.session
      if (session !== undefined) return Effect.succeed({ header: session.header, entries: [...session.range(0)] })
      return Effect.flatMap(Context.get(keepers, SessionRead).run(id), (stored) =>
        Option.isNone(stored) ? notFound(id) : Effect.succeed(stored.value)
      )
    })

  const fork = Effect.fn("Sessions.fork")(function* <E, R>(
    source: SessionId,
    { at, id, keepers = root, realm }: ForkOptions<E, R> = {}
  ) {
    if (id !== undefined) yield* lives.refuse(id)
    const { entries, header } = yield* read(source, keepers)
    const history = yield* Inherited.upTo(source, entries, at)
    return yield* create<E, R>({
      ...(id !== undefined && { id }),
      ...(realm !== undefined && { realm }),
      ...(header.cwd !== undefined && { cwd: header.cwd }),
      ...(header.agentPreset !== undefined && { agentPreset: header.agentPreset }),
      parentSession: source,
      seedLength: history.length,
      seed: history.entries
    })
  })

  const create = Effect.fn("Sessions.create")(function* <E, R>(options: CreateOptions<E, R> = {}) {
    const { id: chosen, keepers: _, realm, seed, ...fields } = options
    const id = chosen ?? SessionId(`session-${yield* Ids.fresh}`)
    const createdAt = yield* Clock.currentTimeMillis
    const header = Header.make({ ...fields, id, createdAt })
    if (Either.isLeft(header)) {
      const { code, message } = header.left
      return yield* new SessionError({ code, sessionId: id, message })
    }
    return yield* lives.begin(id, (life) => admit(life, { header: header.right, seed }, realm))
  })

  return Sessions.of({
    create,
    resume,
    fork,
    get: (id) => lives.get(id)?.session,
    list: () => lives.values().map(({ session }) => session),
    flush: (id) =>
      Effect.suspend(() => {
        const live = lives.get(id)
        if (live !== undefined) return Context.get(live.realm, SessionFlush).run(live.session)
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
