/**
 * `SessionPersistence` in memory: for tests and for runs that want no files. What it stores can be looked at.
 */
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import { isRun } from "@dsh/protocol/ChunkRun"
import type { SessionId } from "@dsh/protocol/Ids"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { PersistenceBackend, SessionWriter } from "./PersistenceBackend.ts"
import * as JsonlCodec from "./JsonlCodec.ts"
import * as Coordinator from "./PersistenceCoordinator.ts"
import { PersistenceError } from "./PersistenceError.ts"
import { SessionPersistence } from "./SessionPersistence.ts"
import type { SessionSummary } from "./SessionPersistence.ts"
import * as StoredSession from "./StoredSession.ts"

const encoder = new TextEncoder()

interface Stored {
  readonly header: SessionHeader
  readonly entries: Array<LogEntry>
  /** How many events are synced. */
  synced: number
}

/** What is stored. It outlives the persistence over it, like a disk. */
export class MemoryStore {
  readonly sessions = new Map<SessionId, Stored>()
  /** What repairs put something else in the place of. */
  readonly replaced: Array<Stored> = []
  /** Sessions that somebody has open to write to. */
  readonly held = new Set<SessionId>()

  /** The stored events of a session; none for one that is not stored. */
  events(id: SessionId): ReadonlyArray<SessionEvent> {
    return [...StoredSession.eventsOf(this.sessions.get(id)?.entries ?? [])]
  }

  /** How many events of a session would survive a loss of power. */
  synced(id: SessionId): number {
    return this.sessions.get(id)?.synced ?? 0
  }
}

/** The store behind `layer`, for assertions. */
export class StoredSessions extends Context.Tag("@dsh/persistence/PersistenceMemory/StoredSessions")<
  StoredSessions,
  MemoryStore
>() {}

/** Persistence over `store`, which others may share. */
export const make = (
  store: MemoryStore,
  options?: Coordinator.Options
): Effect.Effect<SessionPersistence["Type"], never, Scope.Scope> => Coordinator.make(backend(store), options)

/** Persistence over a store of its own. */
export const layer: Layer.Layer<SessionPersistence | StoredSessions> = Layer.scopedContext(
  Effect.gen(function* () {
    const store = new MemoryStore()
    return Context.make(SessionPersistence, yield* make(store)).pipe(Context.add(StoredSessions, store))
  })
)

const backend = (store: MemoryStore): PersistenceBackend => {
  const find = (id: SessionId) =>
    Effect.suspend(() => {
      const found = store.sessions.get(id)
      return found !== undefined
        ? Effect.succeed(found)
        : new PersistenceError({
            code: "SESSION_NOT_FOUND",
            sessionId: id,
            message: `there is no stored session ${id}; list the sessions to see which ones there are`
          })
    })

  const writer = (header: SessionHeader): SessionWriter => {
    const sync = () => {
      const stored = store.sessions.get(header.id)
      if (stored !== undefined) stored.synced = StoredSession.lengthOf(stored.entries)
    }
    return {
      append: (entries, options) =>
        Effect.sync(() => {
          const stored = store.sessions.get(header.id) ?? { header, entries: [], synced: 0 }
          store.sessions.set(header.id, stored)
          for (const entry of entries) stored.entries.push(entry)
          if (options.sync) sync()
        }),
      sync: Effect.sync(sync)
    }
  }

  const hold = (id: SessionId) =>
    Effect.acquireRelease(
      Effect.suspend(() => {
        if (store.held.has(id)) {
          return new PersistenceError({
            code: "SESSION_IN_USE",
            sessionId: id,
            message: `session ${id} is in use; close it first, or work on a fork of the session`
          })
        }
        store.held.add(id)
        return Effect.void
      }),
      () => Effect.sync(() => void store.held.delete(id))
    )

  const load = (id: SessionId) =>
    Effect.map(find(id), ({ entries, header }) => StoredSession.make(header, [...entries]))

  return {
    locate: (id) => Effect.sync(() => (store.sessions.has(id) ? {} : undefined)),
    create: (header) => Effect.as(hold(header.id), writer(header)),
    resume: (id) =>
      Effect.map(Effect.zipRight(hold(id), load(id)), (stored) => ({ stored, writer: writer(stored.header) })),
    load,
    hold: (id) => Effect.zipRight(find(id), hold(id)),
    raw: (id) =>
      Effect.map(find(id), ({ entries, header }) => {
        const records = JsonlCodec.encode(entries).trimEnd().split("\n")
        return {
          header: encoder.encode(JsonlCodec.encodeHeader(header).trimEnd()),
          records: records.map((record, i) => ({ place: `record ${i + 1}`, bytes: encoder.encode(record) })),
          rest: new Uint8Array()
        }
      }),
    rewrite: (id, header, entries) =>
      Effect.map(find(id), (old) => {
        store.sessions.set(id, { header, entries: [...entries], synced: StoredSession.lengthOf(entries) })
        store.replaced.push(old)
        return "memory"
      }),
    remove: (id) => Effect.sync(() => void store.sessions.delete(id)),
    list: Effect.sync(() => ({
      sessions: Array.from(store.sessions.values(), summary).sort((a, b) => b.updatedAt - a.updatedAt),
      warnings: []
    }))
  }
}

const summary = ({ entries, header }: Stored): SessionSummary => {
  const last = entries[entries.length - 1]
  const time = last === undefined ? undefined : isRun(last) ? last.times[last.times.length - 1] : last.time
  return { header, length: StoredSession.lengthOf(entries), updatedAt: time ?? header.createdAt }
}
