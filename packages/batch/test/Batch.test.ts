// Many tasks, each for an agent of its own.
import { Agents } from "@dsh/agent/Agents"
import * as Batch from "@dsh/batch/Batch"
import { BatchJournal } from "@dsh/batch/BatchJournal"
import * as Journal from "@dsh/batch/BatchJournal"
import type { BatchResult } from "@dsh/batch/BatchResult"
import { digest } from "@dsh/batch/BatchTask"
import { Workspaces } from "@dsh/batch/Workspaces"
import { Script } from "@dsh/llm/LlmScripted"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import { SessionId } from "@dsh/protocol/Ids"
import { Sessions } from "@dsh/session/Sessions"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Fiber, Layer, Stream, TestClock } from "effect"
import { Reply, asked, failure, options, prices, task, usage, world } from "./support.ts"

const all = (tasks: ReadonlyArray<ReturnType<typeof task>>, more: Partial<Batch.Options> = {}) =>
  Effect.map(Stream.runCollect(Batch.run(tasks, { ...options, ...more })), (chunk) => Chunk.toReadonlyArray(chunk))

const outcomes = (results: ReadonlyArray<BatchResult>) =>
  results.map(({ error, finishReason, id, status }) => [id, status, finishReason, error?.code ?? ""].join(" ").trim())

const says = world((request) => Reply.text(`answer to ${asked(request)}`, { usage }))

/** Runs until nothing moves any more. */
const settle = Effect.repeatN(Effect.yieldNow(), 2000)

describe("a batch", () => {
  it.scoped("gives each task an agent, tells what it took, and forgets the agent", () =>
    Effect.gen(function* () {
      const started: Array<string> = []
      const results = yield* all([task("a"), task("b")], { prices, onStart: ({ id }) => started.push(id) })
      assert.deepStrictEqual(started, ["a", "b"])
      assert.deepStrictEqual(
        results.map(({ sessionId: _, ...rest }) => rest),
        ["a", "b"].map((id) => ({
          id,
          status: "completed" as const,
          finishReason: "completed" as const,
          finalResponse: `answer to do ${id}`,
          usage: { requests: 1, unreported: 0, input: 60, cacheRead: 30, cacheWrite: 0, output: 10, reasoning: 0 },
          cost: { amounts: { USD: 1 }, unknown: 0 },
          exitCode: 0,
          attempts: 1,
          durationMs: 0
        }))
      )
      assert.notStrictEqual(results[0]!.sessionId, results[1]!.sessionId)
      assert.deepStrictEqual((yield* Agents).list(), [])
      assert.deepStrictEqual((yield* Sessions).list(), [])
      assert.strictEqual((yield* (yield* SessionPersistence).list).sessions.length, 2)
    }).pipe(Effect.provide(says))
  )

  it.scoped("works on no more than so many at a time, and gives results in the order in which they are done", () =>
    Effect.gen(function* () {
      const running: Array<string> = []
      const results = yield* Effect.fork(
        all([task("hangs"), task("b"), task("c")], {
          concurrency: 2,
          timeoutMs: 1000,
          onStart: ({ id }) => running.push(id)
        })
      )
      yield* settle
      assert.deepStrictEqual(running, ["hangs", "b", "c"])
      assert.deepStrictEqual((yield* Agents).list().length, 1)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(outcomes(yield* Fiber.join(results)), [
        "b completed completed",
        "c completed completed",
        "hangs failed budget BUDGET"
      ])
    }).pipe(Effect.provide(world((request) => (asked(request) === "do hangs" ? Reply.hang() : Reply.text("ok")))))
  )

  it.scoped("goes on when a task fails, and says how `dsh run` would have ended", () =>
    Effect.gen(function* () {
      const results = yield* all([task("bad"), task("b"), task("long", { budget: { steps: 1 } }), task("cut")])
      assert.deepStrictEqual(outcomes(results), [
        "bad failed error AUTHENTICATION",
        "b completed completed",
        "long failed budget BUDGET",
        "cut failed max-tokens MAX_TOKENS"
      ])
      assert.deepStrictEqual(
        results.map(({ exitCode }) => exitCode),
        [1, 0, 124, 1]
      )
      assert.strictEqual(results[3]!.finalResponse, "half of")
    }).pipe(
      Effect.provide(
        world((request) => {
          switch (asked(request)) {
            case "do bad":
              return failure("AUTHENTICATION")
            case "do long":
              return Reply.calls([{ name: "env", arguments: { name: "X" } }])
            case "do cut":
              return Reply.cut("half of")
            default:
              return Reply.text("ok")
          }
        })
      )
    )
  )

  it.scoped("gives each agent the folder and the variables of its task", () =>
    Effect.gen(function* () {
      const tasks = [task("a", { env: { COLOR: "red" }, cwd: "sub" }), task("b", { cwd: "/elsewhere" })]
      const results = yield* all(tasks, { concurrency: 2 })
      assert.sameMembers(
        results.map(({ finalResponse, id }) => `${id}: ${finalResponse}`),
        ["a: red", "b: (unset)"]
      )
      const { sessions } = yield* (yield* SessionPersistence).list
      assert.sameMembers(
        sessions.map(({ header }) => header.cwd),
        ["/project/sub", "/elsewhere"]
      )
    }).pipe(
      Effect.provide(
        world((request) =>
          asked(request).startsWith("do")
            ? Reply.calls([{ name: "env", arguments: { name: "COLOR" } }])
            : Reply.text(JSON.stringify(request.messages.at(-1)!.content).includes("red") ? "red" : "(unset)")
        )
      )
    )
  )

  it.scoped("tells what no agent here can do before it begins", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        all([task("a", { line: 1, preset: "standard" }), task("b", { line: 2, permission: "read-only" })])
      )
      assert.strictEqual(error.code, "NOT_SUPPORTED")
      assert.match(error.message, /^line 1: preset .*; line 2: permission /)
      assert.deepStrictEqual((yield* Script).requests, [])
      for (const wrong of [{ concurrency: 0 }, { retry: -1 }, { timeoutMs: 0.5 }]) {
        assert.strictEqual((yield* Effect.flip(all([task("a")], wrong))).code, "INVALID_OPTIONS")
      }
    }).pipe(Effect.provide(says))
  )
})

describe("trying again", () => {
  it.scoped("goes on in the same session after a failure that may pass, and not after any other", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.fork(all([task("a"), task("bad")], { retry: 2 }))
      yield* TestClock.adjust("1 minute")
      const results = yield* Fiber.join(fiber)
      assert.deepStrictEqual(outcomes(results), ["a completed completed", "bad failed error AUTHENTICATION"])
      assert.deepStrictEqual(
        results.map(({ attempts, usage: { requests } }) => [attempts, requests]),
        [
          [3, 3],
          [1, 1]
        ]
      )
      const { requests } = yield* Script
      assert.deepStrictEqual(
        requests.map(({ messages }) => messages.length),
        [1, 2, 3, 1]
      )
      assert.match(asked(requests[1]!), /interrupted from outside/)
    }).pipe(
      Effect.provide(
        world((request) => {
          if (asked(request) === "do bad") return failure("AUTHENTICATION")
          return request.messages.length < 3 ? failure("SERVER") : Reply.text("ok")
        })
      )
    )
  )

  it.scoped("comes to an end", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.fork(all([task("a")], { retry: 2 }))
      yield* TestClock.adjust("1 minute")
      const [result] = yield* Fiber.join(fiber)
      assert.deepInclude(result, { status: "failed", finishReason: "error", attempts: 3 })
    }).pipe(Effect.provide(world(() => failure("SERVER"))))
  )

  it.scoped("does not begin what there is no time for", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.fork(all([task("a")], { retry: 2, timeoutMs: 500 }))
      yield* TestClock.adjust("1 minute")
      const [result] = yield* Fiber.join(fiber)
      assert.deepInclude(result, { status: "failed", finishReason: "error", attempts: 1 })
    }).pipe(Effect.provide(world(() => failure("SERVER"))))
  )
})

describe("the end of a batch", () => {
  it.scoped("cancels what is under way, begins nothing, and has a result for every task", () =>
    Effect.gen(function* () {
      const stop = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        all([task("a"), task("b"), task("c")], { concurrency: 2, stop: Deferred.await(stop) })
      )
      yield* settle
      yield* Deferred.succeed(stop, undefined)
      const results = yield* Fiber.join(fiber)
      assert.sameMembers(outcomes(results), [
        "a cancelled cancelled CANCELLED",
        "b cancelled cancelled CANCELLED",
        "c cancelled cancelled CANCELLED"
      ])
      assert.strictEqual(results.find(({ id }) => id === "c")!.sessionId, undefined)
    }).pipe(Effect.provide(world(() => Reply.hang())))
  )

  it.scoped("does not wait for the next attempt", () =>
    Effect.gen(function* () {
      const stop = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(all([task("a")], { retry: 5, stop: Deferred.await(stop) }))
      yield* settle
      yield* Deferred.succeed(stop, undefined)
      assert.deepStrictEqual(outcomes(yield* Fiber.join(fiber)), ["a cancelled cancelled CANCELLED"])
    }).pipe(Effect.provide(world(() => failure("SERVER"))))
  )

  it.scoped("is in the journal when whoever reads it goes away", () =>
    Effect.gen(function* () {
      const journal = yield* BatchJournal
      const fiber = yield* Effect.fork(all([task("a"), task("b")], { concurrency: 2 }))
      yield* settle
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(journal.of("a")?.isFinished, false)
      assert.isDefined(journal.of("a")?.started)
      assert.deepStrictEqual((yield* Agents).list(), [])
    }).pipe(
      Effect.provide(
        Layer.merge(
          world(() => Reply.hang()),
          Journal.layerMemory
        )
      )
    )
  )

  it.scoped("comes when the money is spent; what is out is answered, and nothing is asked for after that", () =>
    Effect.gen(function* () {
      const tasks = ["a", "b", "c", "d"].map((id) => task(id))
      const results = yield* all(tasks, { prices, maxCost: { amount: 2, currency: "USD" } })
      assert.deepStrictEqual(outcomes(results), [
        "a completed completed",
        "b completed completed",
        "c cancelled budget BATCH_BUDGET",
        "d cancelled budget BATCH_BUDGET"
      ])
      assert.strictEqual((yield* Script).requests.length, 2)
      const more = yield* all([task("e")], {
        prices,
        maxCost: { amount: 2, currency: "USD" },
        spent: { amounts: new Map([["USD", 2]]), unknown: 0 }
      })
      assert.deepStrictEqual(outcomes(more), ["e cancelled budget BATCH_BUDGET"])
    }).pipe(Effect.provide(says))
  )

  it.scoped("comes between two steps of a task, too", () =>
    Effect.gen(function* () {
      const results = yield* all([task("a"), task("b")], {
        prices,
        concurrency: 2,
        maxCost: { amount: 1, currency: "USD" }
      })
      assert.sameMembers(outcomes(results), ["a cancelled budget BATCH_BUDGET", "b cancelled budget BATCH_BUDGET"])
      assert.isAtMost((yield* Script).requests.length, 2)
    }).pipe(
      Effect.provide(
        world(() => ({
          kind: "chunks",
          chunks: [
            { type: "usage", usage },
            ...(
              Reply.calls([{ name: "env", arguments: { name: "X" } }]) as Extract<
                ReturnType<typeof Reply.calls>,
                { kind: "chunks" }
              >
            ).chunks
          ]
        }))
      )
    )
  )
})

describe("going on where a process ended", () => {
  /** What a process leaves behind that was killed while its agent was at work. */
  const leftBehind = (id: string, messageId: string) =>
    Effect.gen(function* () {
      const journal = yield* BatchJournal
      yield* journal.started({
        id,
        digest: digest(task(id)),
        attempt: 1,
        sessionId: `session-${id}`,
        messageId,
        from: 0
      })
    })

  const session = (id: string, prompt: { readonly messageId: string; readonly text: string }) =>
    Effect.scoped(
      Effect.gen(function* () {
        const agent = yield* (yield* Agents).create({ ...options.model, id: SessionId(id), cwd: "/project" })
        const sent = yield* agent.followup({
          id: prompt.messageId as never,
          role: "user",
          content: [{ type: "text", text: prompt.text }],
          source: { kind: "user" }
        })
        return (yield* agent.awaitTurn(sent)).reason
      })
    )

  it.scoped("takes the answer from the session when that is complete, and asks nobody", () =>
    Effect.gen(function* () {
      yield* session("session-a", { messageId: "m", text: "do a" })
      yield* leftBehind("a", "m")
      const [result] = yield* all([task("a")], { prices })
      assert.deepInclude(result, {
        status: "completed",
        finalResponse: "answer to do a",
        sessionId: "session-a",
        attempts: 1
      })
      assert.deepStrictEqual(result!.cost, { amounts: { USD: 1 }, unknown: 0 })
      assert.strictEqual((yield* Script).requests.length, 1)
    }).pipe(Effect.provide(Layer.merge(says, Journal.layerMemory)))
  )

  it.scoped("goes on in the session when the turn was not complete, and begins when there is none", () =>
    Effect.gen(function* () {
      yield* session("session-a", { messageId: "m", text: "do a" })
      yield* leftBehind("a", "m")
      yield* leftBehind("b", "never sent")
      const results = yield* all([task("a"), task("b")])
      assert.deepStrictEqual(outcomes(results), ["a completed completed", "b completed completed"])
      assert.deepStrictEqual(
        results.map(({ attempts, sessionId }) => [attempts, sessionId]),
        [
          [2, "session-a"],
          [2, "session-b"]
        ]
      )
      const { requests } = yield* Script
      assert.deepStrictEqual(
        requests.map(asked).map((text) => text.slice(0, 9)),
        ["do a", "Your work", "do b"]
      )
    }).pipe(
      Effect.provide(
        Layer.merge(
          world((request) =>
            request.messages.length === 1 && asked(request) === "do a" ? failure("SERVER") : Reply.text("ok")
          ),
          Journal.layerMemory
        )
      )
    )
  )

  it.scoped("goes on in a session that ended before anything was asked in it", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const agent = yield* (yield* Agents).create({ id: SessionId("session-a"), cwd: "/project" })
          yield* agent.inject("waits")
        })
      )
      yield* leftBehind("a", "m")
      const [result] = yield* all([task("a")])
      assert.deepInclude(result, { status: "completed", sessionId: "session-a" })
    }).pipe(Effect.provide(Layer.merge(says, Journal.layerMemory)))
  )

  it.scoped("runs nothing that is finished, and refuses a task that is another one now", () =>
    Effect.gen(function* () {
      yield* all([task("a")])
      assert.deepStrictEqual(yield* all([task("a"), task("b")]).pipe(Effect.map(outcomes)), ["b completed completed"])
      const error = yield* Effect.flip(all([task("a", { task: "something else", line: 4 })]))
      assert.strictEqual(error.code, "TASKS_CHANGED")
      assert.match(error.message, /^line 4: task "a" /)
    }).pipe(Effect.provide(Layer.merge(says, Journal.layerMemory)))
  )

  it.scoped("goes on with a session that a task names, and counts only what is new", () =>
    Effect.gen(function* () {
      yield* session("session-old", { messageId: "m", text: "before" })
      const [old, fresh] = yield* all([
        task("a", { sessionId: "session-old" }),
        task("b", { sessionId: "session-new" })
      ])
      assert.deepInclude(old, { status: "completed", sessionId: "session-old" })
      assert.strictEqual(old!.usage.requests, 1)
      assert.deepInclude(fresh, { status: "completed", sessionId: "session-new" })
      assert.strictEqual((yield* Script).requests[1]!.messages.length, 3)
    }).pipe(Effect.provide(says))
  )
})

describe("folders of their own", () => {
  const open = new Set<string>()
  const workspaces = Layer.succeed(
    Workspaces,
    Workspaces.of({
      check: () => Effect.void,
      open: (id, cwd) =>
        Effect.sync(() => {
          open.add(id)
          return {
            cwd: `${cwd}/of-${id}`,
            finish: Effect.sync(() => {
              open.delete(id)
              return id === "kept" ? `${cwd}/of-${id}` : undefined
            })
          }
        })
    })
  )

  it.scoped("are given back when the agent is gone, and told when they are kept", () =>
    Effect.gen(function* () {
      const results = yield* all([task("kept"), task("gone")])
      assert.deepStrictEqual(
        results.map(({ folder }) => folder),
        ["/project/of-kept", undefined]
      )
      const { sessions } = yield* (yield* SessionPersistence).list
      assert.sameMembers(
        sessions.map(({ header }) => header.cwd),
        ["/project/of-kept", "/project/of-gone"]
      )
      assert.deepStrictEqual([...open], [])
    }).pipe(Effect.provide(Layer.merge(says, workspaces)))
  )

  it.scoped("stay for a task that is not done", () =>
    Effect.gen(function* () {
      const stop = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(all([task("a")], { stop: Deferred.await(stop) }))
      yield* settle
      yield* Deferred.succeed(stop, undefined)
      const [result] = yield* Fiber.join(fiber)
      assert.strictEqual(result!.folder, "/project/of-a")
      assert.deepStrictEqual([...open], ["a"])
      open.clear()
    }).pipe(
      Effect.provide(
        Layer.merge(
          world(() => Reply.hang()),
          workspaces
        )
      )
    )
  )
})
