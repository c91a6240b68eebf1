import * as Ids from "@dsh/kernel/Ids"
import { SessionId } from "@dsh/protocol/Ids"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope, TestClock } from "effect"
import { SessionError } from "../src/SessionError.ts"
import * as Sessions from "../src/Sessions.ts"
import { delta, events, named, now, said, stored } from "./support.ts"

const error = (message: string) => new SessionError({ code: "INVARIANT", sessionId: SessionId("x"), message })

/** The ids of sessions that were announced and that were taken down, in order. */
const lifecycle = Effect.gen(function* () {
  const seen: Array<string> = []
  const created = yield* Sessions.SessionCreated
  const disposed = yield* Sessions.SessionDisposed
  yield* created.use("watch", ({ id }) => Effect.sync(() => void seen.push(`created ${id}`)), { order: -1 })
  yield* disposed.use("watch", ({ id }) => Effect.sync(() => void seen.push(`disposed ${id}`)))
  return seen
})

layer(Sessions.layer)("Sessions", (it) => {
  it.scoped("creates a live session with a header", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(123)
      const sessions = yield* Sessions.Sessions
      const session = yield* sessions.create({ id: SessionId("s"), cwd: "/w", origin: "subagent", delegationDepth: 1 })
      assert.deepStrictEqual(session.header, {
        version: 1,
        id: SessionId("s"),
        createdAt: 123,
        cwd: "/w",
        origin: "subagent",
        delegationDepth: 1
      })
      assert.strictEqual(sessions.get(SessionId("s")), session)
      assert.deepStrictEqual(sessions.list(), [session])
      assert.strictEqual(session.length, 0)
    })
  )

  it.scoped("mints ids", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const pinned = yield* Effect.provideService(sessions.create(), Ids.IdSource, Ids.sequential("n"))
      assert.strictEqual(pinned.id, "session-n-1")
      const [a, b] = yield* Effect.all([sessions.create(), sessions.create()])
      assert.notStrictEqual(a.id, b.id)
    })
  )

  it.scoped("refuses a header that does not hold", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const refused = yield* Effect.flip(sessions.create({ cwd: "relative" }))
      assert.strictEqual(refused.code, "INVALID_SESSION_HEADER")
      assert.strictEqual(refused.message, "the session header is invalid: cwd relative is not an absolute path")
      assert.deepStrictEqual(sessions.list(), [])
    })
  )

  it.scoped("has one live session per id", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const seen = yield* lifecycle
      const id = SessionId("s")
      const first = yield* sessions.create({ id })
      const refused = yield* Effect.flip(sessions.create({ id }))
      assert.strictEqual(refused.code, "SESSION_ALREADY_EXISTS")
      assert.strictEqual(refused.message, "session s is already live; choose another id or use the live one")
      assert.strictEqual(sessions.get(id), first)
      assert.deepStrictEqual(seen, ["created s"])
      yield* first.append("turn/start", { turn: 1 })
    })
  )

  it.scoped("of many that ask for one id at once, one gets it", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const exits = yield* Effect.all(
        Array.from({ length: 10 }, () => Effect.exit(sessions.create({ id: SessionId("s") }))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
    })
  )

  it.scoped("a session ends with the Scope that asked for it, and its id is free again", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const seen = yield* lifecycle
      const id = SessionId("s")
      const session = yield* Effect.scoped(sessions.create({ id }))
      assert.isUndefined(sessions.get(id))
      assert.deepStrictEqual(sessions.list(), [])
      assert.strictEqual((yield* Effect.flip(session.append("turn/start", { turn: 1 }))).code, "SESSION_CLOSED")
      yield* sessions.create({ id })
      assert.deepStrictEqual(seen, ["created s", "disposed s", "created s"])
    })
  )

  it.scoped("is live while it is announced and while it is taken down, when it takes no more events", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const created = yield* Sessions.SessionCreated
      const disposed = yield* Sessions.SessionDisposed
      const seen: Array<string> = []
      yield* created.use("asks", (session) =>
        Effect.gen(function* () {
          assert.strictEqual(sessions.get(session.id), session)
          yield* session.append("turn/start", { turn: 1 })
        })
      )
      yield* disposed.use("asks", (session) =>
        Effect.gen(function* () {
          const late = yield* Effect.flip(session.append("turn/start", { turn: 2 }))
          seen.push(late.code, `${sessions.get(session.id) === session}`)
          seen.push((yield* Effect.flip(Effect.scoped(sessions.create({ id: session.id })))).code)
        })
      )
      const session = yield* Effect.scoped(sessions.create())
      assert.strictEqual(session.length, 1)
      assert.deepStrictEqual(seen, ["SESSION_CLOSED", "true", "SESSION_ALREADY_EXISTS"])
    })
  )

  it.scoped("what a listener of session/created acquires goes with the session", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const created = yield* Sessions.SessionCreated
      const seen: Array<string> = []
      yield* created.use("acquires", ({ id }) =>
        Effect.addFinalizer(() => Effect.sync(() => void seen.push(`released for ${id}`)))
      )
      yield* Effect.scoped(
        Effect.zipRight(
          sessions.create({ id: SessionId("s") }),
          Effect.sync(() => assert.deepStrictEqual(seen, []))
        )
      )
      assert.deepStrictEqual(seen, ["released for s"])
    })
  )

  it.scoped("a veto takes the session out at once, pairs created with disposed, and frees the id", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const created = yield* Sessions.SessionCreated
      const seen = yield* lifecycle
      const id = SessionId("s")
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* created.use("veto", () => error("not this one"))
          yield* created.use("never asked", () => Effect.sync(() => void seen.push("asked")))
          assert.strictEqual((yield* Effect.flip(sessions.create({ id }))).message, "not this one")
          assert.isUndefined(sessions.get(id))
        })
      )
      assert.deepStrictEqual(seen, ["created s", "disposed s"])
      yield* sessions.create({ id })
      assert.deepStrictEqual(seen.slice(2), ["created s"])
    })
  )

  it.scoped("an interrupted or dying announcement does the same", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const created = yield* Sessions.SessionCreated
      const seen = yield* lifecycle
      const reached = yield* Deferred.make<void>()
      yield* created.use("slow", ({ id }) =>
        id === "dies" ? Effect.die("no") : Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never)
      )
      const fiber = yield* Effect.fork(Effect.scoped(sessions.create({ id: SessionId("waits") })))
      yield* Deferred.await(reached)
      yield* Fiber.interrupt(fiber)
      yield* Effect.exit(sessions.create({ id: SessionId("dies") }))
      assert.deepStrictEqual(sessions.list(), [])
      assert.deepStrictEqual(seen, ["created waits", "disposed waits", "created dies", "disposed dies"])
    })
  )

  it.scoped("announces nothing that never entered", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const seen = yield* lifecycle
      yield* Effect.flip(sessions.create({ seed: [stored(3, "turn/start", { turn: 1 })] }))
      assert.deepStrictEqual(seen, [])
    })
  )

  it.scoped("seeds a session without publishing the seed", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const heard: Array<string> = []
      yield* sessions.observe((_, entry) => heard.push(...named(entry)))
      const parent = yield* sessions.create()
      yield* parent.append("user/message", said("m"))
      heard.length = 0
      const child = yield* sessions.create({
        seed: parent.range(0),
        parentSession: parent.id,
        seedLength: parent.length
      })
      yield* child.append("turn/start", { turn: 1 })
      assert.deepStrictEqual(heard, ["2 turn/start"])
      assert.deepStrictEqual(
        events(child).map(({ type }) => type),
        ["user/message", "session/end-seed", "turn/start"]
      )
      assert.deepStrictEqual(child.conversation.messages, parent.conversation.messages)
      assert.strictEqual(child.header.parentSession, parent.id)
      assert.strictEqual(parent.length, 1)
    })
  )
})

layer(Sessions.layer)("Sessions.observe", (it) => {
  it.scoped("hears every session, those that were there before too, each in order", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const heard: Array<string> = []
      const before = yield* sessions.create({ id: SessionId("before") })
      yield* sessions.observe(({ id }, entry) => heard.push(`${id} ${named(entry).join()}`))
      const after = yield* sessions.create({ id: SessionId("after") })
      yield* before.append("turn/start", { turn: 1 })
      yield* after.appendChunks(1, 1, [delta("a"), delta("b")])
      yield* before.append("turn/start", { turn: 2 })
      assert.deepStrictEqual(heard, [
        "before 0 turn/start",
        "after 0 assistant/chunk,1 assistant/chunk",
        "before 1 turn/start"
      ])
    })
  )

  it.scoped("hears what is appended while the session is announced", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const created = yield* Sessions.SessionCreated
      const heard: Array<string> = []
      yield* sessions.observe((_, entry) => heard.push(...named(entry)))
      yield* created.use("appends", (session) => Effect.asVoid(session.append("turn/start", { turn: 1 })))
      yield* sessions.create()
      assert.deepStrictEqual(heard, ["0 turn/start"])
    })
  )

  it.scoped("one that fails takes nothing from the others, one that ended hears no more", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const session = yield* sessions.create()
      const heard: Array<number> = []
      yield* sessions.observe(() => {
        throw new Error("broken")
      })
      const scope = yield* Scope.make()
      const observer = (_: unknown, { seq }: { readonly seq: number }) => void heard.push(seq)
      yield* Scope.extend(sessions.observe(observer), scope)
      yield* sessions.observe(observer)
      yield* session.append("turn/start", { turn: 1 })
      yield* Scope.close(scope, Exit.void)
      yield* session.append("turn/start", { turn: 2 })
      assert.deepStrictEqual(heard, [0, 0, 1])
    })
  )

  it.scoped("may append to the session it hears", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const session = yield* sessions.create()
      const heard: Array<number> = []
      yield* sessions.observe((from, { seq }) => {
        if (seq === 0) now(from.append("turn/start", { turn: 2 }))
        heard.push(seq)
      })
      yield* session.append("turn/start", { turn: 1 })
      assert.deepStrictEqual(heard, [0, 1])
    })
  )
})

layer(Sessions.layer)("Sessions.flush", (it) => {
  it.scoped("waits for every listener", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const flush = yield* Sessions.SessionFlush
      const session = yield* sessions.create()
      const written = yield* Deferred.make<void>()
      const started = yield* Deferred.make<void>()
      yield* flush.use("slow", ({ id }) => {
        assert.strictEqual(id, session.id)
        return Effect.zipRight(Deferred.succeed(started, undefined), Deferred.await(written))
      })
      yield* flush.use("quick", () => Effect.void)
      const fiber = yield* Effect.fork(sessions.flush(session.id))
      yield* Deferred.await(started)
      assert.isTrue((yield* Fiber.poll(fiber))._tag === "None")
      yield* Deferred.succeed(written, undefined)
      yield* Fiber.join(fiber)
    })
  )

  it.scoped("reports the first failure when all are done", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const flush = yield* Sessions.SessionFlush
      const session = yield* sessions.create()
      const seen: Array<string> = []
      const failed = yield* Deferred.make<void>()
      yield* flush.use("first", () => Effect.zipRight(Deferred.await(failed), error("first")))
      yield* flush.use("second", () => Effect.zipRight(Deferred.succeed(failed, undefined), error("second")))
      yield* flush.use("third", () =>
        Effect.zipRight(
          Deferred.await(failed),
          Effect.sync(() => void seen.push("third"))
        )
      )
      assert.strictEqual((yield* Effect.flip(sessions.flush(session.id))).message, "first")
      assert.deepStrictEqual(seen, ["third"])
    })
  )

  it.scoped("does nothing without listeners, and refuses a session that is not live", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const session = yield* sessions.create({ id: SessionId("s") })
      yield* sessions.flush(session.id)
      const refused = yield* Effect.flip(sessions.flush(SessionId("other")))
      assert.strictEqual(refused.code, "SESSION_NOT_FOUND")
      assert.strictEqual(refused.message, "session other is not live")
    })
  )
})
