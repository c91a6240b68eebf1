// A session's life: the end is waited for by whoever resumes it, and its realm hears of all of it.
import * as Realm from "@dsh/kernel/Realm"
import { SessionId } from "@dsh/protocol/Ids"
import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Option, Runtime, Scope } from "effect"
import v8 from "node:v8"
import vm from "node:vm"
import * as Invariants from "../src/Invariants.ts"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Sessions from "../src/Sessions.ts"
import { header, said } from "./support.ts"

const id = SessionId("s")

/** Keeps session `s`, one holder at a time, and gives it back only once `gate` is open. */
const keeper = (gate: Deferred.Deferred<void>) =>
  Effect.gen(function* () {
    const state = { held: 0, clashes: 0, releasing: yield* Deferred.make<void>() }
    const restore = yield* Sessions.SessionRestore
    yield* restore.use("keeper", ({ scope }) =>
      Effect.gen(function* () {
        if (state.held > 0) state.clashes++
        state.held++
        const release = Effect.gen(function* () {
          yield* Deferred.succeed(state.releasing, undefined)
          yield* Deferred.await(gate)
          state.held--
        })
        yield* Scope.addFinalizer(scope, release)
        return Option.some({ header: header(), entries: [] })
      })
    )
    return state
  })

layer(Sessions.layer)("resuming a session that is just ending", (it) => {
  /** Session `s`, on its way out. */
  const ending = Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const kept = yield* keeper(gate)
    const sessions = yield* Sessions.Sessions
    const owner = yield* Scope.make()
    const first = yield* Scope.extend(sessions.resume(id), owner)
    const closing = yield* Effect.fork(Scope.close(owner, Exit.void))
    yield* Deferred.await(kept.releasing)
    return { closing, first, gate, kept, sessions }
  })

  it.scoped("waits until whoever kept it has it back", () =>
    Effect.gen(function* () {
      const { closing, first, gate, kept, sessions } = yield* ending
      const resuming = yield* Effect.fork(sessions.resume(id))
      yield* Effect.yieldNow()
      assert.strictEqual((yield* Effect.flip(sessions.create({ id }))).code, "SESSION_ALREADY_EXISTS")
      assert.isTrue(Option.isNone(yield* Fiber.poll(resuming)))
      yield* Deferred.succeed(gate, undefined)
      const second = yield* Fiber.join(resuming)
      yield* Fiber.join(closing)
      assert.notStrictEqual(second, first)
      assert.strictEqual(sessions.get(id), second)
      assert.strictEqual(kept.clashes, 0)
    })
  )

  it.scoped("may be given up meanwhile", () =>
    Effect.gen(function* () {
      const { closing, gate, sessions } = yield* ending
      const resuming = yield* Effect.fork(Effect.scoped(sessions.resume(id)))
      yield* Effect.yieldNow()
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(resuming)))
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(closing)
      assert.deepStrictEqual(sessions.list(), [])
    })
  )

  it.scoped("of many that wait, one gets it", () =>
    Effect.gen(function* () {
      const { gate, kept, sessions } = yield* ending
      const waiting = yield* Effect.fork(
        Effect.all(
          Array.from({ length: 5 }, () => Effect.either(sessions.resume(id))),
          { concurrency: "unbounded" }
        )
      )
      yield* Effect.yieldNow()
      yield* Deferred.succeed(gate, undefined)
      const codes = (yield* Fiber.join(waiting)).map((one) => (one._tag === "Left" ? one.left.code : "resumed"))
      assert.sameMembers(codes, ["resumed", ...Array<string>(4).fill("SESSION_ALREADY_EXISTS")])
      assert.strictEqual(kept.clashes, 0)
    })
  )
})

layer(Sessions.layer)("a session whose owner ends it", (it) => {
  const watched = Effect.gen(function* () {
    const seen: Array<string> = []
    yield* (yield* Sessions.SessionDisposed).use("watch", () => Effect.sync(() => void seen.push("disposed")))
    return { owner: yield* Scope.make(), seen, sessions: yield* Sessions.Sessions }
  })

  it.scoped("while it is announced is over when it is handed out", () =>
    Effect.gen(function* () {
      const { owner, seen, sessions } = yield* watched
      yield* (yield* Sessions.SessionCreated).use("end", () => Scope.close(owner, Exit.void))
      const session = yield* Scope.extend(sessions.create({ id }), owner)
      assert.strictEqual((yield* Effect.flip(session.append("turn/start", { turn: 1 }))).code, "SESSION_CLOSED")
      assert.deepStrictEqual([seen, sessions.list()], [["disposed"], []])
    })
  )

  it.scoped("while an event is heard is over with that event, which everybody still hears", () =>
    Effect.gen(function* () {
      const { owner, seen, sessions } = yield* watched
      const runtime = yield* Effect.runtime()
      const session = yield* Scope.extend(sessions.create({ id }), owner)
      yield* session.observe(() => void Runtime.runFork(runtime)(Scope.close(owner, Exit.void)))
      yield* session.observe(({ seq }) => seen.push(`heard ${seq}`))
      yield* session.append("turn/start", { turn: 1 })
      assert.strictEqual(
        (yield* Effect.flip(session.append("turn/end", { turn: 1, reason: { kind: "completed" } }))).code,
        "SESSION_CLOSED"
      )
      assert.sameMembers(seen, ["disposed", "heard 0"])
      assert.deepStrictEqual(sessions.list(), [])
    })
  )
})

layer(Sessions.layer)("a session in a realm", (it) => {
  /** A realm whose hooks write down what they hear. */
  const listening = (seen: Array<string>) =>
    Effect.gen(function* () {
      const realm = Realm.fork(yield* Effect.context<Sessions.SessionHooks>())
      const note = (what: string) => Effect.sync(() => void seen.push(what))
      yield* Effect.gen(function* () {
        yield* (yield* Sessions.SessionCreated).use("listen", () => note("created"))
        yield* (yield* Sessions.SessionFlush).use("listen", () => note("flush"))
        yield* (yield* Sessions.SessionDisposed).use("listen", () => note("disposed"))
        yield* (yield* Sessions.SessionRead).use("listen", () => Effect.as(note("read"), Option.none()))
        yield* (yield* Sessions.SessionRestore).use("listen", () => Effect.as(note("restore"), Option.none()))
      }).pipe(Effect.provide(realm))
      return realm
    })

  it.scoped("is heard of there, from its beginning to its end, and by everybody else", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const seen: Array<string> = []
      const realm = yield* listening(seen)
      const everywhere: Array<string> = []
      yield* (yield* Sessions.SessionCreated).use("everywhere", () => Effect.sync(() => void everywhere.push("heard")))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const session = yield* sessions.create({ realm: () => Effect.succeed(realm) })
          yield* sessions.flush(session.id)
          const child = yield* sessions.fork(session.id, { realm: () => Effect.succeed(realm) })
          assert.notProperty(child.header, "realm")
        })
      )
      assert.deepStrictEqual(seen, ["created", "flush", "created", "disposed", "disposed"])
      assert.lengthOf(everywhere, 2)
    })
  )

  it.scoped("is made for a header that is known, and for no other", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const realm = yield* listening([])
      const headers: Array<string> = []
      const of = (header: SessionHeader) => Effect.sync(() => (headers.push(header.agentPreset ?? "none"), realm))
      yield* Effect.flip(sessions.resume(id, { realm: of }))
      yield* Effect.flip(sessions.fork(id, { realm: of }))
      assert.deepStrictEqual(headers, [])
      const session = yield* sessions.create({ agentPreset: "minimal", realm: of })
      yield* sessions.fork(session.id, { realm: of })
      assert.deepStrictEqual(headers, ["minimal", "minimal"])
    })
  )

  it.scoped("that cannot be made leaves no session behind", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const failure = yield* Effect.flip(sessions.create({ id, realm: () => Effect.fail("no realm" as const) }))
      assert.strictEqual(failure, "no realm")
      assert.isUndefined(sessions.get(id))
      yield* sessions.create({ id })
    })
  )
})

describe("a session that ended", () => {
  v8.setFlagsFromString("--expose-gc")
  const collectGarbage: () => void = vm.runInNewContext("gc")

  it.live("is forgotten, with everything that was held against it", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const ended: Array<WeakRef<object>> = []
      const work = Effect.gen(function* () {
        const session = yield* sessions.create()
        yield* session.append("user/message", said("m"))
        ended.push(new WeakRef(session))
      })
      for (let i = 0; i < 50; i++) yield* Effect.scoped(work)
      // What a WeakRef was asked for stays until the job is over.
      yield* Effect.promise(() => new Promise((done) => setImmediate(done)))
      collectGarbage()
      // The last one may still be in a register or on the stack.
      assert.isBelow(ended.filter((session) => session.deref() !== undefined).length, 5)
    }).pipe(Effect.provide(Layer.provideMerge(Invariants.layer, Sessions.layer)))
  )
})
