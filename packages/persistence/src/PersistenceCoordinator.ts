/**
 * Lifts a `PersistenceBackend` to `SessionPersistence`: one operation per session at a time, batches that continue the stored log,
 * nothing stored that could not be read back, and syncs when the durability asks for them.
 */
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { SessionId } from "@dsh/protocol/Ids"
import * as Interrupted from "@dsh/protocol/Interrupted"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import * as Diagnosis from "./Diagnosis.ts"
import type { Durability, PersistenceBackend, SessionWriter } from "./PersistenceBackend.ts"
import * as Admission from "./PersistenceCoordinator/Admission.ts"
import * as KeyedLock from "./PersistenceCoordinator/KeyedLock.ts"
import * as SyncLoop from "./PersistenceCoordinator/SyncLoop.ts"
import { PersistenceError } from "./PersistenceError.ts"
import { SessionPersistence } from "./SessionPersistence.ts"
import * as StoredSession from "./StoredSession.ts"

export interface Options {
  /** Default: `process`. */
  readonly durability?: Durability
}

/** A session with a writer. */
interface Open {
  readonly id: SessionId
  readonly writer: SessionWriter
  /** The seq that the next stored event has. */
  cursor: number
  /** Something was appended since the last sync. */
  unsynced: boolean
}

export const make = (
  backend: PersistenceBackend,
  { durability = "process" }: Options = {}
): Effect.Effect<SessionPersistence["Type"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const { withLock } = KeyedLock.make<SessionId>()
    const opened = new Map<SessionId, Open>()

    const sync = (session: Open): Effect.Effect<void, PersistenceError> =>
      session.unsynced
        ? Effect.map(session.writer.sync, () => {
            session.unsynced = false
          })
        : Effect.void

    const loop = yield* SyncLoop.make((id) =>
      withLock(id, () => {
        const session = opened.get(id)
        return session === undefined ? Effect.void : sync(session)
      })
    )

    /** Not interrupted by `withLock`: what is stored and not counted would be stored twice. */
    const write = (session: Open, batch: ReadonlyArray<LogEntry>, durable: boolean) => {
      const first = batch[0]
      if (first === undefined) return Effect.void
      if (first.seq !== session.cursor) {
        return Effect.fail(Admission.notContiguous(session.id, session.cursor, first.seq))
      }
      return Effect.flatMap(session.writer.append(batch, { sync: durable }), () => {
        session.cursor += StoredSession.lengthOf(batch)
        session.unsynced = !durable
        if (!durable) loop.schedule(session.id)
        return Effect.void
      })
    }

    const refuseTaken = Effect.fnUntraced(function* (id: SessionId) {
      const location = opened.has(id) ? {} : yield* backend.locate(id)
      if (location === undefined) return
      const where = "path" in location ? `stored in ${location.path}` : "taken"
      return yield* new PersistenceError({
        code: "SESSION_ALREADY_EXISTS",
        sessionId: id,
        message: `session ${id} is already ${where}; continue it or choose another id`,
        ...location
      })
    })

    const close = (session: Open) =>
      withLock(session.id, () =>
        sync(session).pipe(
          Effect.catchAll((error) =>
            Effect.logError(`session ${session.id} was not synced before it was closed`, error)
          ),
          Effect.andThen(Effect.sync(() => void opened.delete(session.id)))
        )
      )

    // Whoever still has a session open then closed things in the wrong order; what it stored is made durable all the same.
    yield* Effect.addFinalizer(() => Effect.forEach([...opened.values()], close, { discard: true }))

    const open = Effect.fnUntraced(function* (header: SessionHeader) {
      yield* refuseTaken(header.id)
      const writer = yield* backend.create(header)
      yield* register({ id: header.id, writer, cursor: 0, unsynced: false })
    })

    const register = (session: Open) =>
      Effect.acquireRelease(
        Effect.sync(() => void opened.set(session.id, session)),
        () => close(session)
      )

    const resume = Effect.fnUntraced(function* (id: SessionId, restore: KeyedLock.Restore) {
      if (opened.has(id)) return yield* inUse(id)
      const { stored, writer } = yield* restore(backend.resume(id))
      const session: Open = { id, writer, cursor: stored.length, unsynced: false }
      yield* register(session)
      const closing = Interrupted.closers(stored.entries)
      yield* write(session, closing, true)
      yield* Effect.forEach(stored.notices, (notice) => Effect.logWarning(`session ${id}: ${notice}`), {
        discard: true
      })
      return StoredSession.make(stored.header, [...stored.entries, ...closing], stored)
    })

    const inUse = (id: SessionId) =>
      new PersistenceError({
        code: "SESSION_IN_USE",
        sessionId: id,
        message: `session ${id} is already open in this process; use it as it is or close it first`
      })

    const appendToClosed = (id: SessionId, batch: ReadonlyArray<LogEntry>, restore: KeyedLock.Restore) =>
      Effect.scoped(
        Effect.flatMap(restore(backend.resume(id)), ({ stored, writer }) =>
          // Nobody will be there to sync it later.
          write({ id, writer, cursor: stored.length, unsynced: false }, batch, true)
        )
      )

    const diagnose = Effect.fnUntraced(function* (id: SessionId) {
      const raw = yield* backend.raw(id)
      return yield* Either.mapLeft(
        Diagnosis.of(id, raw),
        ({ reason }) =>
          new PersistenceError({
            code: "UNSUPPORTED_FORMAT",
            sessionId: id,
            message: `session ${id} cannot be looked at: ${reason}`,
            ...(raw.path !== undefined && { path: raw.path })
          })
      )
    })

    /** `use` with a stored session that nobody writes to. */
    const held = <A>(id: SessionId, restore: KeyedLock.Restore, use: Effect.Effect<A, PersistenceError>) =>
      opened.has(id) ? inUse(id) : Effect.scoped(Effect.zipRight(restore(backend.hold(id)), use))

    const repair = Effect.fnUntraced(function* (id: SessionId) {
      const { defects, entries, header } = yield* diagnose(id)
      if (!defects.some((defect) => defect.repair !== undefined)) return { defects }
      return { defects, backup: yield* backend.rewrite(id, header, entries) }
    })

    const notFound = (id: SessionId) =>
      new PersistenceError({
        code: "SESSION_NOT_FOUND",
        sessionId: id,
        message: `there is no stored session ${id}; list the sessions to see which ones there are`
      })

    return SessionPersistence.of({
      create: (given) =>
        Effect.flatMap(Admission.header(given), (header) => withLock(header.id, (restore) => restore(open(header)))),

      resume: (id) => withLock(id, (restore) => resume(id, restore)),

      append: (id, entries) =>
        Effect.suspend(() => {
          const batch = Admission.batch(id, entries)
          if (batch instanceof PersistenceError) return batch
          if (batch.length === 0) return Effect.void
          return withLock(id, (restore) => {
            const session = opened.get(id)
            return session === undefined
              ? appendToClosed(id, batch, restore)
              : write(session, batch, durability === "strict" || batch.some(endsTurn))
          })
        }),

      flush: (id) =>
        withLock(id, (restore) => {
          const session = opened.get(id)
          if (session !== undefined) return sync(session)
          return Effect.flatMap(restore(backend.locate(id)), (location) =>
            location === undefined ? Effect.fail(notFound(id)) : Effect.void
          )
        }),

      load: (id) => withLock(id, (restore) => restore(backend.load(id))),
      list: backend.list,
      check: (id) => withLock(id, (restore) => restore(Effect.map(diagnose(id), ({ defects }) => defects))),
      repair: (id) => withLock(id, (restore) => held(id, restore, repair(id))),
      raw: (id) => withLock(id, (restore) => restore(backend.raw(id))),
      delete: (id) => withLock(id, (restore) => held(id, restore, backend.remove(id))),
      locate: (id) => Effect.map(backend.locate(id), (location) => location?.path)
    })
  })

const endsTurn = (entry: LogEntry): boolean => "type" in entry && entry.type === "turn/end"
