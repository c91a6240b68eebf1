// Which step takes which input, who is woken, and what an agent says of itself meanwhile.
import { AgentError } from "@dsh/agent/AgentError"
import * as AgentHooks from "@dsh/agent/AgentHooks"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Runtime, Scope } from "effect"
import { ask, make, ofType, outline, pending, told, until, world } from "./support.ts"

const { Reply } = LlmScripted
const delta = (text: string) => ({ type: "text-delta" as const, index: 0, text })
const steps = (lines: ReadonlyArray<string>) => lines.filter((line) => /^(step|user|assistant|end turn)/.test(line))

describe("input", () => {
  it.scoped("that waits goes before a tool that would conclude the turn", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const runtime = yield* Effect.runtime()
      yield* agent.session.observe((entry) => {
        if ("type" in entry && entry.type === "tool/call") Runtime.runFork(runtime)(agent.steer("wait"))
      })
      yield* ask(agent, "finish")
      assert.deepStrictEqual(steps(outline(agent.session)), [
        "step 1",
        "user finish",
        "assistant <conclude>",
        "step 2",
        "user wait",
        "assistant yes?",
        "end turn 1 completed"
      ])
    }).pipe(Effect.provide(world([Reply.calls([{ name: "conclude", arguments: {} }]), Reply.text("yes?")])))
  )

  it.scoped("that comes after the claim of a step misses its request and prolongs the turn", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const runtime = yield* Effect.runtime()
      yield* agent.session.observe((entry) => {
        if ("type" in entry && entry.type === "request/header") Runtime.runFork(runtime)(agent.inject("late"))
      })
      yield* ask(agent, "go")
      const { requests } = yield* LlmScripted.Script
      assert.deepStrictEqual(
        requests.map(({ messages }) => messages.length),
        [1, 3]
      )
    }).pipe(Effect.provide(world([Reply.text("1"), Reply.text("2")])))
  )

  it.scoped("that is a prompt never joins a running turn", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const runtime = yield* Effect.runtime()
      yield* agent.session.observe((entry) => {
        if ("type" in entry && entry.type === "tool/call") Runtime.runFork(runtime)(agent.followup("next"))
      })
      yield* ask(agent, "go")
      yield* agent.whenIdle
      assert.deepStrictEqual(steps(outline(agent.session)), [
        "step 1",
        "user go",
        "assistant <echo>",
        "step 2",
        "assistant 1",
        "end turn 1 completed",
        "step 1",
        "user next",
        "assistant 2",
        "end turn 2 completed"
      ])
    }).pipe(
      Effect.provide(
        world([Reply.calls([{ name: "echo", arguments: { text: "x" } }]), Reply.text("1"), Reply.text("2")])
      )
    )
  )

  it.scoped("that is refused at a later step blocks the turn, and the steps before it stay", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const runtime = yield* Effect.runtime()
      yield* agent.session.observe((entry) => {
        if ("type" in entry && entry.type === "assistant/message") Runtime.runFork(runtime)(agent.steer("secret"))
      })
      const outcome = yield* ask(agent, "go")
      assert.deepStrictEqual(outcome, { turn: 1, reason: { kind: "blocked" }, entered: true })
      assert.deepStrictEqual(steps(outline(agent.session)), ["step 1", "user go", "assistant 1", "end turn 1 blocked"])
      assert.deepStrictEqual(pending(agent.session), [])
    }).pipe(
      Effect.provide(
        world(
          [Reply.text("1")],
          AgentHooks.PreStep.hook("refuse", (input, next) =>
            input.step === 1 ? next(input) : Effect.succeed({ kind: "reject" })
          )
        )
      )
    )
  )

  it.scoped("that was withdrawn asks the model nothing, even when the runtime context has news", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.withdraw(yield* agent.followup("never mind"))
      yield* agent.whenIdle
      assert.deepStrictEqual(outline(agent.session), ["queue next-turn", "canceled", "turn 1", "end turn 1 completed"])
    }).pipe(
      Effect.provide(
        world([], SystemPrompt.layerContext({ name: "news", order: 0, text: () => Effect.succeed("it rains") }))
      )
    )
  )

  it.scoped("is placed before anybody hears of it: a cancel by an observer moves it nowhere", () =>
    Effect.gen(function* () {
      const agent = yield* make({
        setup: AgentHooks.InboxInserted.hook("cancel", ({ agent, message }) =>
          message.source.kind === "user" && agent.status() === "running" ? agent.cancel() : Effect.void
        )
      })
      yield* agent.followup("go")
      yield* until(agent.session, ({ type }) => type === "assistant/chunk")
      const id = yield* agent.steer("more")
      const outcome = yield* agent.awaitTurn(id)
      assert.deepStrictEqual(outcome, { turn: 2, reason: { kind: "completed" }, entered: true })
      assert.deepStrictEqual(
        outline(agent.session).filter((line) => line.startsWith("queue")),
        ["queue next-turn", "queue next-step"]
      )
    }).pipe(Effect.provide(world([Reply.hang([delta("1")]), Reply.text("2")])))
  )

  it.scoped("may go to either list, and wakes when it is told to", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.send("prompt", "next-turn", false)
      yield* agent.send("note", "next-step", false)
      assert.strictEqual(agent.status(), "idle")
      yield* agent.send("go", "next-step", true)
      yield* agent.whenIdle
      assert.deepStrictEqual(told(agent.session), ["note", "go", "prompt"])
      const message = ofType(agent.session, "user/message")[0]!.data
      yield* agent.send(message, "next-turn", false)
      assert.strictEqual((yield* Effect.flip(agent.send(message, "next-step", false))).code, "INVALID_INBOX_SPLICE")
    }).pipe(Effect.provide(world([Reply.text("1")])))
  )
})

describe("status", () => {
  /** What `agent/status` says: status, and how much is parked. */
  const listening = (seen: Array<string>) =>
    AgentHooks.AgentStatus.hook("listen", ({ parked, status }) =>
      Effect.sync(() => void seen.push(parked === 0 ? status : `${status}, ${parked} parked`))
    )

  it.scoped("is published when it changes, and not between turns", () => {
    const seen: Array<string> = []
    return Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.followup("a")
      yield* agent.followup("b")
      yield* agent.whenIdle
      assert.deepStrictEqual(seen, ["running", "idle"])
    }).pipe(Effect.provide(world([Reply.text("1"), Reply.text("2")], listening(seen))))
  })

  it.scoped("does not change when a wake that came too late is served", () => {
    const seen: Array<string> = []
    return Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.followup("a")
      yield* until(agent.session, ({ type }) => type === "assistant/chunk")
      yield* agent.cancel()
      yield* agent.awaitTurn(yield* agent.followup("b"))
      yield* agent.whenIdle
      assert.deepStrictEqual(seen, ["running", "idle"])
    }).pipe(Effect.provide(world([Reply.hang([delta("1")]), Reply.text("2")], listening(seen))))
  })

  it.scoped("tells what a failure has left waiting", () => {
    const seen: Array<string> = []
    return Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.followup("a")
      yield* agent.followup("b")
      yield* agent.whenIdle
      assert.deepStrictEqual(seen, ["running", "idle, 1 parked"])
    }).pipe(Effect.provide(world([], listening(seen))))
  })
})

describe("maintenance", () => {
  it.scoped("that fails fails for whoever asked for it, and what came meanwhile runs", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const job = Effect.zipRight(agent.followup("later"), Effect.fail("no luck" as const))
      assert.strictEqual(yield* Effect.flip(agent.maintain(job)), "no luck")
      yield* agent.whenIdle
      assert.deepStrictEqual(told(agent.session), ["later"])
    }).pipe(Effect.provide(world([Reply.text("1")])))
  )

  it.scoped("ends with a cancel, whoever it comes from", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const reached = yield* Deferred.make<void>()
      const waiting = yield* Effect.fork(
        agent.maintain(Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never))
      )
      yield* Deferred.await(reached)
      yield* agent.cancel()
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(waiting)))
      const own = yield* Effect.fork(agent.maintain(Effect.zipRight(agent.cancel(), Effect.never)))
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(own)))
      assert.strictEqual((yield* ask(agent, "go")).reason.kind, "completed")
    }).pipe(Effect.provide(world([Reply.text("1")])))
  )

  it.scoped("ends with the agent, which waits for it; none begins afterwards", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const agent = yield* Scope.extend(make(), scope)
      const seen: Array<string> = []
      const reached = yield* Deferred.make<void>()
      const waiting = yield* Effect.fork(
        agent.maintain(
          Effect.onInterrupt(Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never), () =>
            Effect.zipRight(
              Effect.yieldNow(),
              Effect.sync(() => void seen.push("cleaned up"))
            )
          )
        )
      )
      yield* Deferred.await(reached)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(seen, ["cleaned up"])
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(waiting)))
      const error = yield* Effect.flip(agent.maintain(Effect.void))
      assert.instanceOf(error, AgentError)
      assert.strictEqual(error.code, "AGENT_DISPOSED")
    }).pipe(Effect.provide(world([], Layer.empty)))
  )
})
