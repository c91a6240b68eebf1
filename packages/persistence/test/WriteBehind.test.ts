import { assert, describe, it } from "@effect/vitest"
import * as PersistenceJsonl from "@dsh/persistence/PersistenceJsonl"
import { StoredSessions } from "@dsh/persistence/PersistenceMemory"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import * as WriteBehind from "@dsh/persistence/WriteBehind"
import { SessionId } from "@dsh/protocol/Ids"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import type { Session } from "@dsh/session/Session"
import { SessionError } from "@dsh/session/SessionError"
import * as SessionStore from "@dsh/session/Sessions"
import { Sessions } from "@dsh/session/Sessions"
import { Effect, Exit, Fiber, Layer, Logger, Scope, TestClock } from "effect"
import { Disk } from "./support/Disk.ts"
import * as DiskLayer from "./support/Disk.ts"
import * as ValveLayer from "./support/Valve.ts"
import { Valve } from "./support/Valve.ts"

type Services = Sessions | SessionStore.SessionCreated | SessionPersistence | StoredSessions | Valve

const inMemory = WriteBehind.layer.pipe(Layer.provideMerge(Layer.merge(SessionStore.layer, ValveLayer.layer)))

const withMemory = <E>(test: Effect.Effect<void, E, Services | Scope.Scope>) =>
  Effect.provide(Effect.scoped(test), inMemory)

const id = SessionId("s")

/** Logs a step that means nothing. */
const tick = (session: Session) => session.append("step/start", { turn: 1, step: session.length })

const storedSeqs = Effect.map(StoredSessions, (stored) => stored.events(id).map(({ seq }) => seq))

describe("the window", () => {
  it.effect("opens with the first event and is not moved by later ones", () =>
    withMemory(
      Effect.gen(function* () {
        const session = yield* (yield* Sessions).create({ id })
        yield* tick(session)
        yield* TestClock.adjust("150 millis")
        yield* tick(session)
        yield* TestClock.adjust("49 millis")
        assert.deepStrictEqual(yield* storedSeqs, [])
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(yield* storedSeqs, [0, 1])
        assert.deepStrictEqual((yield* Valve).attempts, [2])
      })
    )
  )

  it.effect("begins anew with the first event after a flush", () =>
    withMemory(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const session = yield* sessions.create({ id })
        yield* tick(session)
        yield* TestClock.adjust("150 millis")
        yield* sessions.flush(id)
        assert.deepStrictEqual(yield* storedSeqs, [0])
        yield* tick(session)
        yield* TestClock.adjust("199 millis")
        assert.deepStrictEqual(yield* storedSeqs, [0])
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(yield* storedSeqs, [0, 1])
      })
    )
  )

  it.effect("goes on while a write is under way; what it holds is written right after", () =>
    withMemory(
      Effect.gen(function* () {
        const { attempts, gate } = yield* Valve
        const session = yield* (yield* Sessions).create({ id })
        yield* gate.close
        yield* tick(session)
        yield* TestClock.adjust("200 millis")
        yield* tick(session)
        yield* TestClock.adjust("100 millis")
        yield* tick(session)
        yield* TestClock.adjust("150 millis")
        assert.deepStrictEqual(attempts, [1])
        yield* gate.open
        yield* TestClock.adjust("0 millis")
        assert.deepStrictEqual(attempts, [1, 2])
        assert.deepStrictEqual(yield* storedSeqs, [0, 1, 2])
      })
    )
  )

  it.effect("is not waited for at the end of a turn, and nobody waits for the write", () =>
    withMemory(
      Effect.gen(function* () {
        const session = yield* (yield* Sessions).create({ id })
        yield* tick(session)
        yield* session.append("turn/end", { turn: 1, reason: { kind: "completed" } })
        assert.deepStrictEqual(yield* storedSeqs, [])
        yield* TestClock.adjust("0 millis")
        assert.deepStrictEqual(yield* storedSeqs, [0, 1])
        assert.strictEqual((yield* StoredSessions).synced(id), 2)
      })
    )
  )
})

describe("flush", () => {
  it.effect("is one barrier for all who wait, and covers what is logged meanwhile", () =>
    withMemory(
      Effect.gen(function* () {
        const { attempts, gate } = yield* Valve
        const sessions = yield* Sessions
        const session = yield* sessions.create({ id })
        yield* gate.close
        yield* tick(session)
        const waiting = yield* Effect.forkAll(Array.from({ length: 5 }, () => sessions.flush(id)))
        yield* TestClock.adjust("0 millis")
        yield* tick(session)
        yield* tick(session)
        yield* gate.open
        yield* Fiber.join(waiting)
        assert.deepStrictEqual(attempts, [1, 2])
        assert.deepStrictEqual(yield* storedSeqs, [0, 1, 2])
      })
    )
  )

  it.effect("waits for a write that is under way", () =>
    withMemory(
      Effect.gen(function* () {
        const { gate } = yield* Valve
        const sessions = yield* Sessions
        const session = yield* sessions.create({ id })
        yield* gate.close
        yield* tick(session)
        yield* TestClock.adjust("200 millis")
        const waiting = yield* Effect.fork(sessions.flush(id))
        yield* TestClock.adjust("1 hours")
        assert.strictEqual((yield* Fiber.poll(waiting))._tag, "None")
        yield* gate.open
        yield* Fiber.join(waiting)
        assert.deepStrictEqual(yield* storedSeqs, [0])
      })
    )
  )

  it.effect("fails all who wait, keeps the batch in order, and the next one stores it", () =>
    withMemory(
      Effect.gen(function* () {
        const valve = yield* Valve
        const sessions = yield* Sessions
        const session = yield* sessions.create({ id })
        valve.failing = true
        yield* tick(session)
        const exits = yield* Effect.all([Effect.flip(sessions.flush(id)), Effect.flip(sessions.flush(id))], {
          concurrency: "unbounded"
        })
        for (const error of exits) {
          assert.strictEqual(error.code, "FLUSH_FAILED")
          assert.include(error.message, "the valve is shut; open it")
        }
        yield* tick(session)
        yield* Effect.flip(sessions.flush(id))
        valve.failing = false
        yield* tick(session)
        yield* sessions.flush(id)
        assert.deepStrictEqual(yield* storedSeqs, [0, 1, 2])
        assert.deepStrictEqual(valve.attempts, [1, 2, 3])
      })
    )
  )

  it.effect("does nothing when everything is stored", () =>
    withMemory(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const session = yield* sessions.create({ id })
        yield* sessions.flush(id)
        yield* tick(session)
        yield* sessions.flush(id)
        yield* sessions.flush(id)
        assert.deepStrictEqual((yield* Valve).attempts, [1])
      })
    )
  )

  it.effect("can be given up without giving up the write", () =>
    withMemory(
      Effect.gen(function* () {
        const { attempts, gate } = yield* Valve
        const sessions = yield* Sessions
        const session = yield* sessions.create({ id })
        yield* gate.close
        yield* tick(session)
        const waiting = yield* Effect.fork(sessions.flush(id))
        yield* TestClock.adjust("0 millis")
        yield* Fiber.interrupt(waiting)
        yield* gate.open
        yield* sessions.flush(id)
        assert.deepStrictEqual(attempts, [1])
        assert.deepStrictEqual(yield* storedSeqs, [0])
      })
    )
  )
})

describe("a write nobody waits for", () => {
  it.effect("that fails is told, and tried again with the next event", () => {
    const told: Array<unknown> = []
    const logger = Logger.make(({ logLevel, message }) => void told.push([logLevel.label, message]))
    return withMemory(
      Effect.gen(function* () {
        const valve = yield* Valve
        const session = yield* (yield* Sessions).create({ id })
        valve.failing = true
        yield* tick(session)
        yield* TestClock.adjust("200 millis")
        assert.deepStrictEqual(told, [["WARN", ["session s: 1 log entries could not be stored yet"]]])
        yield* TestClock.adjust("1 hours")
        assert.deepStrictEqual(valve.attempts, [1])
        valve.failing = false
        yield* tick(session)
        yield* TestClock.adjust("200 millis")
        assert.deepStrictEqual(yield* storedSeqs, [0, 1])
      })
    ).pipe(Effect.provide(Logger.add(logger)))
  })
})

describe("a session", () => {
  const seed: ReadonlyArray<SessionEvent> = [
    { type: "turn/start", seq: 0, time: 1, data: { turn: 1 } },
    { type: "turn/end", seq: 1, time: 2, data: { turn: 1, reason: { kind: "completed" } } }
  ]

  it.effect("that was created from a seed stores it once", () =>
    withMemory(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const session = yield* sessions.create({ id, seed, seedLength: 2, parentSession: SessionId("parent") })
        yield* tick(session)
        yield* sessions.flush(id)
        yield* sessions.flush(id)
        const stored = yield* (yield* SessionPersistence).load(id)
        assert.deepStrictEqual([...stored.events], [...session.range(0)])
        assert.strictEqual(stored.length, 4)
        assert.deepInclude(stored.header, { seedLength: 2, parentSession: SessionId("parent") })
      })
    )
  )

  it.effect("that ends is stored to its end", () =>
    withMemory(
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.flatMap(
            Effect.flatMap(Sessions, (sessions) => sessions.create({ id })),
            tick
          )
        )
        assert.deepStrictEqual(yield* storedSeqs, [0])
        assert.strictEqual((yield* StoredSessions).synced(id), 1)
      })
    )
  )

  it.effect("that logged nothing leaves no trace, and its id can be used again", () =>
    withMemory(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        yield* Effect.scoped(sessions.create({ id }))
        yield* tick(yield* sessions.create({ id }))
        yield* sessions.flush(id)
        assert.deepStrictEqual(yield* storedSeqs, [0])
      })
    )
  )

  it.effect("of an id that is stored cannot be created", () =>
    withMemory(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        yield* Effect.scoped(Effect.flatMap(sessions.create({ id }), tick))
        const error = yield* Effect.flip(sessions.create({ id }))
        assert.strictEqual(error.code, "SESSION_ALREADY_EXISTS")
        assert.isUndefined(sessions.get(id))
      })
    )
  )

  it.effect("that somebody else vetoes is not stored", () =>
    withMemory(
      Effect.gen(function* () {
        const veto = new SessionError({ code: "INVARIANT", sessionId: id, message: "no" })
        yield* (yield* SessionStore.SessionCreated).use("veto", () => Effect.fail(veto))
        yield* Effect.flip(Effect.flatMap(Sessions, (sessions) => sessions.create({ id, seed })))
        yield* TestClock.adjust("1 seconds")
        assert.deepStrictEqual(yield* storedSeqs, [])
        assert.deepStrictEqual((yield* Valve).attempts, [])
      })
    )
  )

  it.effect("that could not be stored when it ended is tried once more at shutdown", () =>
    Effect.gen(function* () {
      const memory = yield* Layer.build(Layer.merge(SessionStore.layer, ValveLayer.layer))
      yield* Effect.gen(function* () {
        const valve = yield* Valve
        const scope = yield* Scope.make()
        yield* Layer.buildWithScope(WriteBehind.layer, scope)
        valve.failing = true
        yield* Effect.scoped(
          Effect.flatMap(
            Effect.flatMap(Sessions, (sessions) => sessions.create({ id })),
            tick
          )
        )
        assert.deepStrictEqual(yield* storedSeqs, [])
        valve.failing = false
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(yield* storedSeqs, [0])
      }).pipe(Effect.provide(memory))
    }).pipe(Effect.scoped)
  )

  it.effect("is stored as it was when the feature is taken away", () =>
    Effect.gen(function* () {
      const memory = yield* Layer.build(Layer.merge(SessionStore.layer, ValveLayer.layer))
      yield* Effect.gen(function* () {
        const scope = yield* Scope.make()
        yield* Layer.buildWithScope(WriteBehind.layer, scope)
        const session = yield* (yield* Sessions).create({ id })
        yield* tick(session)
        yield* Scope.close(scope, Exit.void)
        yield* tick(session)
        yield* (yield* Sessions).flush(id)
        assert.deepStrictEqual(yield* storedSeqs, [0])
      }).pipe(Effect.provide(memory))
    }).pipe(Effect.scoped)
  )
})

describe("a session that is resumed", () => {
  const resume = Effect.flatMap(Sessions, (sessions) => sessions.resume(id))

  it.effect("is stored behind what is stored, and marked once until something is logged", () =>
    withMemory(
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const session = yield* (yield* Sessions).create({ id, cwd: "/w" })
            yield* session.append("turn/start", { turn: 1 })
            yield* session.append("turn/end", { turn: 1, reason: { kind: "completed" } })
          })
        )
        for (const _ of [1, 2]) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const session = yield* resume
              assert.deepStrictEqual(
                [session.header.cwd, session.length, session.firstLiveSeq],
                ["/w", 3, _ === 1 ? 2 : 3]
              )
            })
          )
        }
        const stored = yield* StoredSessions
        assert.deepStrictEqual(
          stored.events(id).map(({ type }) => type),
          ["turn/start", "turn/end", "session/end-seed"]
        )
        yield* Effect.scoped(Effect.flatMap(resume, (session) => session.append("turn/start", { turn: 2 })))
        assert.deepStrictEqual(yield* storedSeqs, [0, 1, 2, 3])
      })
    )
  )

  it.effect("has its interrupted turn closed, in the log as in storage", () =>
    withMemory(
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.flatMap(
            Effect.flatMap(Sessions, (sessions) => sessions.create({ id })),
            (session) => session.append("turn/start", { turn: 1 })
          )
        )
        const session = yield* resume
        const live = [...session.range(0)]
        assert.deepStrictEqual(live[1]?.data, { turn: 1, reason: { kind: "interrupted" } })
        yield* (yield* Sessions).flush(id)
        assert.deepStrictEqual((yield* StoredSessions).events(id), live)
      })
    )
  )

  it.effect("is refused when it is live, in use or nowhere, and free again after a veto", () =>
    withMemory(
      Effect.gen(function* () {
        assert.strictEqual((yield* Effect.flip(Effect.scoped(resume))).code, "SESSION_NOT_FOUND")
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* tick(yield* (yield* Sessions).create({ id }))
            assert.strictEqual((yield* Effect.flip(resume)).code, "SESSION_ALREADY_EXISTS")
          })
        )
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* (yield* SessionPersistence).resume(id)
            const error = yield* Effect.flip(Effect.scoped(resume))
            assert.strictEqual(error.code, "SESSION_IN_USE")
          })
        )
        const veto = new SessionError({ code: "INVARIANT", sessionId: id, message: "no" })
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* (yield* SessionStore.SessionCreated).use("veto", () => Effect.fail(veto))
            assert.strictEqual((yield* Effect.flip(resume)).message, veto.message)
          })
        )
        assert.strictEqual((yield* resume).id, id)
      })
    )
  )
})

describe("on a disk", () => {
  const onDisk = WriteBehind.layer.pipe(
    Layer.provideMerge(Layer.unwrapEffect(Effect.map(Disk, ({ root }) => PersistenceJsonl.layer({ root })))),
    Layer.provideMerge(Layer.merge(SessionStore.layer, DiskLayer.layer))
  )

  it.effect("ten thousand deltas come back as they were logged, packed", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const life = yield* Scope.make()
      const session = yield* Scope.extend(sessions.create({ id }), life)
      for (let batch = 0; batch < 500; batch++) {
        const chunks = Array.from({ length: 20 }, (_, n): StreamChunk => {
          const text = `${batch}.${n}\n`
          if (batch % 100 === 99) return { type: "reasoning-delta", index: 1, text }
          return { type: "text-delta", index: 0, text }
        })
        yield* session.appendChunks(1, 1, chunks)
        if (batch % 25 === 0) yield* TestClock.adjust("75 millis")
      }
      yield* sessions.flush(id)
      const stored = yield* (yield* SessionPersistence).load(id)
      assert.strictEqual(stored.length, 10_000)
      assert.deepStrictEqual([...stored.events], [...session.range(0)])
      assert.isAtMost(stored.entries.length, 40)
      const events = [...stored.events]
      yield* Scope.close(life, Exit.void)
      const resumed = yield* sessions.resume(id)
      assert.deepStrictEqual([...resumed.range(0, 10_000)], events)
    }).pipe(Effect.scoped, Effect.provide(onDisk))
  )

  it.effect("a disk that is full fails the flush, and nothing is lost when there is space again", () =>
    Effect.gen(function* () {
      const disk = yield* Disk
      const sessions = yield* Sessions
      const session = yield* sessions.create({ id })
      yield* tick(session)
      yield* sessions.flush(id)
      disk.fault = (operation) => (operation === "writeAll" ? { code: "ENOSPC", partial: 7 } : undefined)
      yield* tick(session)
      const error = yield* Effect.flip(sessions.flush(id))
      assert.strictEqual(error.code, "FLUSH_FAILED")
      assert.include(error.message, "free some space")
      disk.fault = () => undefined
      yield* tick(session)
      yield* sessions.flush(id)
      const stored = yield* (yield* SessionPersistence).load(id)
      assert.deepStrictEqual([...stored.events], [...session.range(0)])
    }).pipe(Effect.scoped, Effect.provide(onDisk))
  )
})
