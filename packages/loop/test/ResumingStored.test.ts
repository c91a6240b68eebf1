// An agent over a session on disk, taken up again by the process that is just letting go of it.
import { Agents } from "@dsh/agent/Agents"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import * as Checkpoints from "@dsh/persistence/Checkpoints"
import * as PersistenceJsonl from "@dsh/persistence/PersistenceJsonl"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import * as WriteBehind from "@dsh/persistence/WriteBehind"
import { SessionId } from "@dsh/protocol/Ids"
import { SessionError } from "@dsh/session/SessionError"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Option, Scope } from "effect"
import { ask, make, told } from "./support.ts"

const { Reply } = LlmScripted
const id = SessionId("s")
const lock = "session.lock"

/** Holds whoever gives a session back: its log is complete by then, and its lock still there. */
class Door extends Context.Tag("test/Door")<
  Door,
  { readonly reached: Deferred.Deferred<void>; readonly open: Deferred.Deferred<void> }
>() {}

const door = Layer.effect(Door, Effect.all({ reached: Deferred.make<void>(), open: Deferred.make<void>() }))

/** The real disk, but for the door in front of the removal of a lock. */
const disk = Layer.effect(
  FileSystem.FileSystem,
  Effect.gen(function* () {
    const { open, reached } = yield* Door
    const fs = yield* FileSystem.FileSystem
    const passing = Effect.zipRight(Deferred.succeed(reached, undefined), Deferred.await(open))
    return FileSystem.FileSystem.of({
      ...fs,
      remove: (path, options) => Effect.zipRight(path.endsWith(lock) ? passing : Effect.void, fs.remove(path, options))
    })
  })
).pipe(Layer.provide(NodeFileSystem.layer))

const stored = Layer.unwrapScoped(
  Effect.map(
    Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "dsh-resuming-" })),
    (root) => PersistenceJsonl.layer({ root })
  )
).pipe(Layer.provide(NodePath.layer))

/** As in the product: what stores sessions is closed after what owns them. */
const world = AgentLoop.layer.pipe(
  Layer.provideMerge(LlmScripted.layer([Reply.text("1"), Reply.text("2")])),
  Layer.provideMerge(Layer.merge(WriteBehind.layer, Checkpoints.layer)),
  Layer.provideMerge(Layer.merge(stored, Definitions.layer)),
  Layer.provideMerge(disk),
  Layer.provideMerge(door)
)

/** An agent with one turn behind it, on its way out. */
const ending = Effect.gen(function* () {
  const owner = yield* Scope.make()
  const agent = yield* Scope.extend(make({ id, cwd: "/w" }), owner)
  yield* ask(agent, "first")
  const closing = yield* Effect.fork(Scope.close(owner, Exit.void))
  yield* Deferred.await((yield* Door).reached)
  return { agent, closing }
})

describe("resuming a session on disk that is just ending", () => {
  it.scoped("waits until it has been given back, and goes on with the next turn", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { agent, closing } = yield* ending
      const resuming = yield* Effect.fork(agents.resume({ id }))
      const refused = yield* Effect.flip(make({ id }))
      assert.instanceOf(refused, SessionError)
      assert.strictEqual(refused.code, "SESSION_ALREADY_EXISTS")
      assert.isTrue(Option.isNone(yield* Fiber.poll(resuming)))
      assert.isUndefined(agents.get(id))
      yield* Deferred.succeed((yield* Door).open, undefined)
      const resumed = yield* Fiber.join(resuming)
      yield* Fiber.join(closing)
      assert.notStrictEqual(resumed, agent)
      const outcome = yield* ask(resumed, "second")
      assert.deepStrictEqual(outcome, { turn: 2, reason: { kind: "completed" }, entered: true })
      assert.deepStrictEqual(told(resumed.session), ["first", "second"])
      const { entries } = yield* (yield* SessionPersistence).load(id)
      const turns = entries.flatMap((entry) => ("type" in entry && entry.type === "turn/end" ? [entry.data] : []))
      assert.deepStrictEqual(turns, [
        { turn: 1, reason: { kind: "completed" } },
        { turn: 2, reason: { kind: "completed" } }
      ])
    }).pipe(Effect.provide(world))
  )

  it.scoped("may be given up while it waits: that leaves the end alone, and the session to the next one", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { closing } = yield* ending
      const resuming = yield* Effect.fork(Effect.scoped(agents.resume({ id })))
      yield* Effect.yieldNow()
      // The door is still closed: only the wait has ended.
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(resuming)))
      assert.isTrue(Option.isNone(yield* Fiber.poll(closing)))
      yield* Deferred.succeed((yield* Door).open, undefined)
      yield* Fiber.join(closing)
      assert.isUndefined(agents.get(id))
      assert.strictEqual((yield* ask(yield* agents.resume({ id }), "second")).turn, 2)
    }).pipe(Effect.provide(world))
  )
})
