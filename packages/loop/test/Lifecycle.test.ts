// How agents come to life and end: who hears of it in which order, and that nothing of a failed beginning is left.
import { AgentError } from "@dsh/agent/AgentError"
import * as AgentHooks from "@dsh/agent/AgentHooks"
import { Agents } from "@dsh/agent/Agents"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { SessionId } from "@dsh/protocol/Ids"
import { SessionError } from "@dsh/session/SessionError"
import * as Store from "@dsh/session/Sessions"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Option, Scope } from "effect"
import { ask, events, make, outline, until, world } from "./support.ts"

const { Reply } = LlmScripted
const id = SessionId("s")
const hanging = [Reply.hang([{ type: "text-delta", index: 0, text: "1" }])]

/** Writes down what it hears of the life of agents and sessions. */
const listen = (seen: Array<string>, name = "") => {
  const note = (what: string) => Effect.sync(() => void seen.push(`${name}${what}`))
  return Layer.mergeAll(
    Store.SessionCreated.hook(`${name}listen`, () => note("session created")),
    AgentHooks.AgentCreated.hook(`${name}listen`, () => note("agent created")),
    AgentHooks.SessionStart.hook(`${name}listen`, ({ source }) => note(source)),
    AgentHooks.AgentStatus.hook(`${name}listen`, ({ status }) => note(status)),
    Store.SessionFlush.hook(`${name}listen`, () => note("flush")),
    AgentHooks.AgentDisposed.hook(`${name}listen`, () => note("agent disposed")),
    Store.SessionDisposed.hook(`${name}listen`, () => note("session disposed"))
  )
}

const life = ["session created", "agent created", "startup", "agent disposed", "session disposed"]

describe("an agent", () => {
  it.scoped("is announced and taken down in order, first to everybody and then to its own realm", () => {
    const seen: Array<string> = []
    return Effect.gen(function* () {
      const agents = yield* Agents
      yield* Effect.scoped(
        Effect.gen(function* () {
          const agent = yield* make({ id, setup: listen(seen, "own ") })
          assert.strictEqual(agents.get(id), agent)
          assert.deepStrictEqual(agents.list(), [agent])
        })
      )
      assert.deepStrictEqual(
        seen,
        life.flatMap((what) => [what, `own ${what}`])
      )
      assert.deepStrictEqual(agents.list(), [])
    }).pipe(Effect.provide(world([], listen(seen))))
  })

  it.scoped("hears of its own session in its realm, and of no other", () => {
    const seen: Array<string> = []
    return Effect.gen(function* () {
      const sessions = yield* Store.Sessions
      const mine = yield* make({ setup: listen(seen) })
      const other = yield* make()
      seen.length = 0
      yield* sessions.flush(other.id)
      yield* sessions.flush(mine.id)
      yield* Effect.scoped(make())
      yield* Effect.scoped(sessions.create())
      assert.deepStrictEqual(seen, ["flush"])
    }).pipe(Effect.provide(world([])))
  })

  it.scoped("may keep its session in a place of its own: what its realm restores, it resumes and forks", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const first = yield* Effect.scoped(make({ id }))
      const stored = Option.some({ header: first.session.header, entries: events(first.session) })
      const mine = Layer.merge(
        Store.SessionRestore.hook("mine", () => Effect.succeed(stored)),
        Store.SessionRead.hook("mine", () => Effect.succeed(stored))
      )
      const own = yield* agents.resume({ id, setup: mine })
      assert.strictEqual(own.session.header, first.session.header)
      yield* agents.fork({ source: SessionId("elsewhere"), setup: mine })
      const error = yield* Effect.flip(agents.fork({ source: SessionId("elsewhere") }))
      assert.strictEqual(error.code, "SESSION_NOT_FOUND")
    }).pipe(Effect.provide(world([])))
  )

  it.scoped("that is vetoed never existed: both announcements are taken back and the id is free", () => {
    const seen: Array<string> = []
    const veto = AgentHooks.AgentCreated.hook("veto", ({ session }) =>
      session.header.cwd === "/no" ? new AgentError({ code: "HOOK_FAILED", message: "not this one" }) : Effect.void
    )
    return Effect.gen(function* () {
      const error = yield* Effect.flip(make({ id, cwd: "/no" }))
      assert.strictEqual(error.code, "HOOK_FAILED")
      assert.deepStrictEqual(seen, ["session created", "agent created", "agent disposed", "session disposed"])
      assert.deepStrictEqual((yield* Agents).list(), [])
      yield* make({ id })
    }).pipe(Effect.provide(world([], Layer.provideMerge(veto, listen(seen)))))
  })

  it.scoped("whose setup fails was never announced", () => {
    const seen: Array<string> = []
    return Effect.gen(function* () {
      const ended: Array<string> = []
      const setup = Layer.scopedDiscard(
        Effect.zipRight(
          Effect.addFinalizer(() => Effect.sync(() => void ended.push("closed"))),
          Effect.fail("no setup" as const)
        )
      )
      assert.strictEqual(yield* Effect.flip(make({ id, setup })), "no setup")
      assert.deepStrictEqual([seen, ended], [[], ["closed"]])
      yield* make({ id })
    }).pipe(Effect.provide(world([], listen(seen))))
  })

  it.scoped("may be given up while it is set up", () =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      const setup = Layer.effectDiscard(Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never))
      const fiber = yield* Effect.fork(Effect.scoped(make({ id, setup })))
      yield* Deferred.await(reached)
      yield* Fiber.interrupt(fiber)
      yield* make({ id })
    }).pipe(Effect.provide(world([])))
  )

  it.scoped("has its id alone: of many that ask for it at once, one gets it", () =>
    Effect.gen(function* () {
      const exits = yield* Effect.all(
        Array.from({ length: 5 }, () => Effect.either(make({ id }))),
        { concurrency: "unbounded" }
      )
      const codes = exits.map((exit) => (exit._tag === "Left" ? exit.left.code : "created"))
      assert.sameMembers(codes, ["created", ...Array<string>(4).fill("SESSION_ALREADY_EXISTS")])
    }).pipe(Effect.provide(world([])))
  )

  it.scoped("takes no output ceiling but a whole number above 0", () =>
    Effect.gen(function* () {
      for (const maxTokens of [0, -1, 1.5, Number.NaN]) {
        assert.strictEqual((yield* Effect.flip(make({ maxTokens }))).code, "INVALID_OPTIONS")
      }
    }).pipe(Effect.provide(world([])))
  )

  it.effect("ends with the loop that drives it, even when the Scope that asked for it goes on", () =>
    Effect.gen(function* () {
      const loop = yield* Scope.make()
      const owner = yield* Scope.make()
      const services = yield* Layer.buildWithScope(world(hanging), loop)
      const agent = yield* make().pipe(Effect.provide(services), Scope.extend(owner))
      yield* agent.followup("go")
      yield* until(agent.session, ({ type }) => type === "assistant/chunk")
      yield* Scope.close(loop, Exit.void)
      assert.strictEqual(outline(agent.session).at(-1), "end turn 1 aborted")
      assert.strictEqual((yield* Effect.flip(agent.followup("next"))).code, "AGENT_DISPOSED")
      assert.deepStrictEqual(Context.get(services, Agents).list(), [])
      yield* Scope.close(owner, Exit.void)
    })
  )

  it.effect("is waited for by both who may end it, whoever comes first", () =>
    Effect.gen(function* () {
      const loop = yield* Scope.make()
      const owner = yield* Scope.make()
      const gate = yield* Deferred.make<void>()
      const reached = yield* Deferred.make<void>()
      const slowly = AgentHooks.AgentDisposed.hook("slowly", () =>
        Effect.zipRight(Deferred.succeed(reached, undefined), Deferred.await(gate))
      )
      const services = yield* Layer.buildWithScope(world([]), loop)
      yield* make({ setup: slowly }).pipe(Effect.provide(services), Scope.extend(owner))
      const first = yield* Effect.fork(Scope.close(loop, Exit.void))
      yield* Deferred.await(reached)
      const second = yield* Effect.fork(Scope.close(owner, Exit.void))
      yield* Effect.yieldNow()
      assert.isTrue(Option.isNone(yield* Fiber.poll(second)))
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.joinAll([first, second])
    })
  )

  it.scoped("that was cancelled and then disposed was cancelled", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const agent = yield* Scope.extend(make(), scope)
      const prompt = yield* agent.followup("go")
      yield* until(agent.session, ({ type }) => type === "assistant/chunk")
      yield* agent.cancel({ kind: "parent" })
      yield* Scope.close(scope, Exit.void)
      const { reason } = yield* agent.awaitTurn(prompt)
      assert.deepStrictEqual(reason, { kind: "aborted", reason: { kind: "parent" } })
    }).pipe(Effect.provide(world(hanging)))
  )
})

describe("resuming a session that is just ending", () => {
  /** An agent whose end takes as long as `gate`. */
  const ending = (gate: Deferred.Deferred<void>) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const reached = yield* Deferred.make<void>()
      const slowly = AgentHooks.AgentDisposed.hook("slowly", () =>
        Effect.zipRight(Deferred.succeed(reached, undefined), Deferred.await(gate))
      )
      const agent = yield* Scope.extend(make({ id, setup: slowly }), scope)
      yield* ask(agent, "go")
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* Deferred.await(reached)
      return { agent, closing }
    })

  /** Keeps the session that ended last, as a store would. */
  const shelf = () => {
    let stored = Option.none<Store.Stored>()
    return Layer.merge(
      Store.SessionDisposed.hook("keep", ({ header, range }) =>
        Effect.sync(() => {
          stored = Option.some({ header, entries: [...range(0)] })
        })
      ),
      Store.SessionRestore.hook("shelf", () => Effect.sync(() => stored))
    )
  }

  it.scoped("waits for its end and goes on from there; a new one under its id does not wait", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const gate = yield* Deferred.make<void>()
      const { agent, closing } = yield* ending(gate)
      const resuming = yield* Effect.fork(agents.resume({ id }))
      const refused = yield* Effect.flip(make({ id }))
      assert.strictEqual(refused.code, "SESSION_ALREADY_EXISTS")
      assert.isTrue(Option.isNone(yield* Fiber.poll(resuming)))
      yield* Deferred.succeed(gate, undefined)
      const resumed = yield* Fiber.join(resuming)
      yield* Fiber.join(closing)
      assert.notStrictEqual(resumed, agent)
      assert.strictEqual(agents.get(id), resumed)
      assert.strictEqual((yield* ask(resumed, "next")).turn, 2)
    }).pipe(Effect.provide(world([Reply.text("1"), Reply.text("2")], shelf())))
  )

  it.scoped("may be given up while it waits, and leaves the end alone", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const gate = yield* Deferred.make<void>()
      const { closing } = yield* ending(gate)
      const resuming = yield* Effect.fork(Effect.scoped(agents.resume({ id })))
      yield* Effect.yieldNow()
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(resuming)))
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(closing)
      yield* make({ id })
    }).pipe(Effect.provide(world([Reply.text("1")])))
  )

  it.scoped("of one that is alive is refused at once", () =>
    Effect.gen(function* () {
      yield* make({ id })
      const error = yield* Effect.flip((yield* Agents).resume({ id }))
      assert.instanceOf(error, SessionError)
      assert.strictEqual(error.code, "SESSION_ALREADY_EXISTS")
    }).pipe(Effect.provide(world([])))
  )
})
