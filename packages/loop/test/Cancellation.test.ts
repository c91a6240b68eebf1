// Every window in which a cancel may land, and what the log says afterwards.
import * as AgentHooks from "@dsh/agent/AgentHooks"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { SessionId } from "@dsh/protocol/Ids"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Option, Runtime, Scope } from "effect"
import { ask, make, ofType, outline, refuse, Stage, until, world } from "./support.ts"

const { Reply } = LlmScripted
const delta = (text: string) => ({ type: "text-delta" as const, index: 0, text })
const lastEnd = (session: Parameters<typeof outline>[0]) => ofType(session, "turn/end").at(-1)?.data.reason

describe("cancel", () => {
  it.scoped("idle: nothing happens, pending input stays unless asked otherwise", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.inject("kept")
      yield* agent.cancel()
      assert.strictEqual(agent.session.inbox["next-step"].length, 1)
      yield* agent.cancel({ kind: "user" }, { clear: true })
      assert.strictEqual(agent.session.inbox["next-step"].length, 0)
      assert.deepStrictEqual(outline(agent.session), ["queue next-step", "canceled"])
    }).pipe(Effect.provide(world([])))
  )

  it.scoped("from a status observer, before the first turn: no turn at all, the input waits", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.followup("go")
      yield* agent.whenIdle
      assert.deepStrictEqual(outline(agent.session), ["queue next-turn"])
      assert.strictEqual(agent.session.inbox["next-turn"].length, 1)
    }).pipe(
      Effect.provide(
        world(
          [],
          AgentHooks.AgentStatus.hook("stop", ({ agent, status }) =>
            status === "running" ? agent.cancel() : Effect.void
          )
        )
      )
    )
  )

  it.scoped("during pre-step: no step, and the claimed input is still pending", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const id = yield* agent.followup("go")
      yield* until(agent.session, ({ type }) => type === "turn/start")
      yield* agent.cancel()
      const outcome = yield* agent.awaitTurn(id)
      assert.isFalse(outcome.entered)
      assert.deepStrictEqual(outline(agent.session), ["queue next-turn", "turn 1", "end turn 1 aborted"])
      assert.strictEqual(agent.session.inbox["next-turn"][0]?.id, id)
    }).pipe(
      Effect.provide(
        world(
          [],
          AgentHooks.PreStep.hook("wait", () => Effect.never)
        )
      )
    )
  )

  it.scoped("mid-stream: what was visible is kept, in a message marked as interrupted", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.followup("go")
      yield* until(agent.session, ({ type }) => type === "assistant/chunk")
      yield* agent.cancel()
      yield* agent.whenIdle
      assert.deepStrictEqual(outline(agent.session).slice(-3), [
        "assistant (interrupted) half",
        "end step 1",
        "end turn 1 aborted"
      ])
      assert.deepStrictEqual(lastEnd(agent.session), { kind: "aborted", reason: { kind: "user" } })
    }).pipe(Effect.provide(world([Reply.hang([delta("half")])])))
  )

  it.scoped("mid-stream with nothing visible: no message", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.followup("go")
      yield* until(agent.session, ({ type }) => type === "assistant/chunk")
      yield* agent.cancel()
      yield* agent.whenIdle
      assert.strictEqual(ofType(agent.session, "assistant/message").length, 0)
    }).pipe(Effect.provide(world([Reply.hang([delta("  ")])])))
  )

  it.scoped("during tools: running bodies are interrupted and waited for, every call is answered", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const { gate, log } = yield* Stage
      yield* Deferred.succeed(gate("a"), undefined)
      yield* agent.followup("go")
      yield* until(agent.session, (event) => event.type === "tool/call" && event.data.callId === "b")
      yield* until(agent.session, (event) => event.type === "tool/result" && event.data.message.source.callId === "a")
      yield* agent.cancel()
      yield* agent.whenIdle
      assert.include(log, "abort b")
      assert.deepStrictEqual(outline(agent.session).slice(-6), [
        "result a did a",
        "result b ABORTED",
        "call x",
        "result x ABORTED_BEFORE_DISPATCH",
        "end step 1",
        "end turn 1 aborted"
      ])
    }).pipe(
      Effect.provide(
        world([
          Reply.calls([
            { id: "a", name: "shared", arguments: { name: "a" } },
            { id: "b", name: "shared", arguments: { name: "b" } },
            { id: "x", name: "alone", arguments: { name: "x" } }
          ])
        ])
      )
    )
  )

  it.scoped("from an observer of the log: the turn ends there", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const runtime = yield* Effect.runtime()
      yield* agent.session.observe((entry) => {
        if ("type" in entry && entry.type === "step/start")
          Runtime.runFork(runtime)(agent.cancel({ kind: "user" }, { clear: true }))
      })
      yield* agent.followup("a")
      yield* agent.followup("b")
      yield* agent.whenIdle
      assert.deepStrictEqual(lastEnd(agent.session), { kind: "aborted", reason: { kind: "user" } })
      assert.strictEqual(agent.session.inbox["next-turn"].length, 0)
      const { remaining } = yield* LlmScripted.Script
      assert.strictEqual(remaining(), 1)
    }).pipe(Effect.provide(world([Reply.text("never")])))
  )

  it.scoped("the queue is parked; a later wake runs it", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.followup("a")
      yield* agent.followup("b")
      yield* until(agent.session, ({ type }) => type === "assistant/chunk")
      yield* agent.cancel()
      yield* agent.whenIdle
      assert.strictEqual(agent.session.inbox["next-turn"].length, 1)
      yield* ask(agent, "c")
      yield* agent.whenIdle
      assert.deepStrictEqual(
        outline(agent.session).filter((line) => line.startsWith("user")),
        ["user a", "user b", "user c"]
      )
    }).pipe(Effect.provide(world([Reply.hang([delta("1")]), Reply.text("2"), Reply.text("3")])))
  )

  it.scoped("a wake that arrives after the abort runs once the turn has ended", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.followup("a")
      yield* until(agent.session, ({ type }) => type === "assistant/chunk")
      yield* agent.cancel()
      const id = yield* agent.steer("instead")
      const outcome = yield* agent.awaitTurn(id)
      assert.deepStrictEqual(outcome, { turn: 2, reason: { kind: "completed" }, entered: true })
      assert.include(outline(agent.session), "queue next-turn")
    }).pipe(Effect.provide(world([Reply.hang([delta("1")]), Reply.text("2")])))
  )

  it.scoped("waits for what does not listen, and then ends the turn", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const { gate } = yield* Stage
      yield* agent.followup("go")
      yield* until(agent.session, ({ type }) => type === "tool/call")
      yield* Effect.yieldNow()
      yield* agent.cancel()
      const idle = yield* Effect.fork(agent.whenIdle)
      yield* Effect.yieldNow()
      assert.isTrue(Option.isNone(yield* Fiber.poll(idle)))
      yield* Deferred.succeed(gate("x"), undefined)
      yield* Fiber.join(idle)
      assert.deepStrictEqual(outline(agent.session).slice(-3), ["result x ABORTED", "end step 1", "end turn 1 aborted"])
    }).pipe(
      Effect.provide(
        world(
          [Reply.calls([{ id: "x", name: "alone", arguments: { name: "x" } }])],
          ToolHooks.Execute.hook("deaf", (call, next) => Effect.uninterruptible(next(call)))
        )
      )
    )
  )

  it.scoped("while bodies end after a failure of the log: still every call is answered", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const { gate, log } = yield* Stage
      yield* refuse(agent.session, ({ type }) => type === "tool/result")
      yield* Deferred.succeed(gate("a"), undefined)
      const id = yield* agent.followup("go")
      yield* until(agent.session, (event) => event.type === "tool/call" && event.data.callId === "b")
      // The refusal of the first result is behind us once the second body works.
      yield* Effect.repeat(Effect.yieldNow(), { until: () => log.includes("start b") && log.includes("end a") })
      yield* Effect.yieldNow()
      yield* agent.cancel()
      yield* agent.awaitTurn(id)
      assert.include(log, "abort b")
      assert.deepStrictEqual(outline(agent.session).slice(-4, -1), [
        "result a TOOL_OUTCOME_UNKNOWN",
        "result b TOOL_OUTCOME_UNKNOWN",
        "end step 1"
      ])
    }).pipe(
      Effect.provide(
        world([
          Reply.calls([
            { id: "a", name: "shared", arguments: { name: "a" } },
            { id: "b", name: "shared", arguments: { name: "b" } }
          ])
        ])
      )
    )
  )

  it.scoped("when the log refuses the answer of an aborted call, it gets another", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* refuse(agent.session, ({ type }) => type === "tool/result")
      const id = yield* agent.followup("go")
      yield* until(agent.session, ({ type }) => type === "tool/call")
      yield* agent.cancel()
      const { reason } = yield* agent.awaitTurn(id)
      assert.strictEqual(reason.kind, "aborted")
      assert.deepStrictEqual(outline(agent.session).slice(-5), [
        "result x TOOL_OUTCOME_UNKNOWN",
        "call y",
        "result y TOOL_NOT_STARTED",
        "end step 1",
        "end turn 1 aborted"
      ])
    }).pipe(
      Effect.provide(
        world([
          Reply.calls([
            { id: "x", name: "alone", arguments: { name: "x" } },
            { id: "y", name: "alone", arguments: { name: "y" } }
          ])
        ])
      )
    )
  )

  it.scoped("from an observer of the log: what was kept cites what was heard last", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const runtime = yield* Effect.runtime()
      yield* agent.session.observe((entry) => {
        if (agent.session.at(entry.seq)?.type === "assistant/chunk") Runtime.runFork(runtime)(agent.cancel())
      })
      yield* agent.followup("go")
      yield* agent.whenIdle
      const [message] = ofType(agent.session, "assistant/message")
      const [chunk] = ofType(agent.session, "assistant/chunk")
      assert.deepStrictEqual(message?.sourceEventSeqs, [chunk!.seq])
    }).pipe(Effect.provide(world([Reply.hang([delta("half")])])))
  )

  it.scoped("from an observer of the log: what the next request is made of is not logged twice", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const runtime = yield* Effect.runtime()
      yield* agent.session.observe((entry) => {
        if ("type" in entry && entry.type === "request/header") Runtime.runFork(runtime)(agent.cancel())
      })
      yield* agent.followup("go")
      yield* agent.whenIdle
      yield* ask(agent, "again")
      assert.deepStrictEqual(
        ofType(agent.session, "request/header").map(({ data }) => data.reason),
        ["initial"]
      )
    }).pipe(Effect.provide(world([Reply.text("1")])))
  )

  it.scoped("the first cause wins", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.followup("a")
      yield* until(agent.session, ({ type }) => type === "assistant/chunk")
      yield* agent.cancel({ kind: "hook", reason: "enough" })
      yield* agent.cancel({ kind: "user" })
      yield* agent.whenIdle
      assert.deepStrictEqual(lastEnd(agent.session), { kind: "aborted", reason: { kind: "hook", reason: "enough" } })
    }).pipe(Effect.provide(world([Reply.hang([delta("1")])])))
  )
})

describe("dispose", () => {
  it.effect("closes the open turn, refuses further input, and answers those who wait", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const agent = yield* Scope.extend(make(), scope)
      const running = yield* agent.followup("a")
      const queued = yield* agent.followup("b")
      yield* until(agent.session, ({ type }) => type === "assistant/chunk")
      const waiting = yield* Effect.fork(Effect.either(agent.awaitTurn(queued)))
      const first = yield* Effect.fork(agent.awaitTurn(running))
      yield* Effect.yieldNow()
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual((yield* first).reason, { kind: "aborted", reason: { kind: "disposed" } })
      const parked = yield* waiting
      assert.strictEqual(parked._tag === "Left" && parked.left.code, "AGENT_DISPOSED")
      const refused = yield* Effect.flip(agent.followup("c"))
      assert.strictEqual(refused.code, "AGENT_DISPOSED")
      assert.strictEqual(outline(agent.session).at(-1), "end turn 1 aborted")
    }).pipe(Effect.provide(world([Reply.hang([delta("1")])])))
  )

  it.effect("registrations of the agent's realm end with it, and the id is free again", () =>
    Effect.gen(function* () {
      const ended: Array<string> = []
      const setup = Layer.scopedDiscard(Effect.addFinalizer(() => Effect.sync(() => void ended.push("realm"))))
      const id = SessionId("again")
      yield* Effect.scoped(make({ id, setup }))
      assert.deepStrictEqual(ended, ["realm"])
      yield* Effect.scoped(make({ id }))
    }).pipe(Effect.provide(world([])))
  )
})
