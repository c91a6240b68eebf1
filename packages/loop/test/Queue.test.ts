// What the owner of pending input may still do with it: put it first, take it back, put something else in its place.
import type { Agent } from "@dsh/agent/Agent"
import { AgentError } from "@dsh/agent/AgentError"
import * as AgentHooks from "@dsh/agent/AgentHooks"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { textOf } from "@dsh/protocol/Block"
import { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Runtime, Scope } from "effect"
import { moment } from "./moment.ts"
import { ask, make, ofType, outline, pending, told, until, world } from "./support.ts"

const { Reply } = LlmScripted
const delta = (text: string) => ({ type: "text-delta" as const, index: 0, text })
const answers = (count: number) => Array.from({ length: count }, (_, i) => Reply.text(`${i + 1}`))

const code = <E extends { readonly code: string }>(effect: Effect.Effect<unknown, E>) =>
  Effect.map(Effect.flip(effect), (error) => error.code)

/** What the inbox hooks hear, in order. */
const listening = (heard: Array<string>) => {
  const hear = (what: string) => (input: { readonly message: Message.UserMessage }) =>
    Effect.sync(() => void heard.push(`${what} ${textOf(input.message.content)}`))
  return Layer.mergeAll(
    AgentHooks.InboxInserted.hook("listen", hear("in")),
    AgentHooks.InboxDiscarded.hook("listen", hear("out"))
  )
}

/** The splices of the log: where, how many out, what in, and why. */
const splices = (agent: Agent) =>
  ofType(agent.session, "agent/inbox/spliced").map(({ data: { inserted, outcome, removedCount = 0, start, target } }) =>
    [target, `${start}-${removedCount}`, ...inserted.map(({ content }) => `+${textOf(content)}`), outcome ?? ""]
      .join(" ")
      .trimEnd()
  )

describe("input sent to the front", () => {
  it.scoped("goes before what waits in its list", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.send("b", "next-turn", false)
      yield* agent.send("y", "next-step", false)
      yield* agent.send("a", "next-turn", false, { at: "front" })
      yield* agent.inject("x", { at: "front" })
      yield* agent.send("c", "next-turn", false, { at: "end" })
      assert.deepStrictEqual(pending(agent.session), ["x", "y", "a", "b", "c"])
      yield* agent.steer("w", { at: "front" })
      yield* agent.whenIdle
      assert.deepStrictEqual(told(agent.session), ["w", "x", "y", "a", "b", "c"])
    }).pipe(Effect.provide(world(answers(3))))
  )

  it.scoped("is the prompt of the next turn, and takes that of the running one from nobody", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const first = yield* agent.followup("first")
      yield* until(agent.session, ({ type }) => type === "assistant/chunk")
      yield* agent.followup("third")
      const second = yield* agent.followup("second", { at: "front" })
      yield* agent.cancel()
      yield* agent.whenIdle
      yield* agent.followup("zeroth", { at: "front" })
      yield* agent.whenIdle
      assert.deepStrictEqual(told(agent.session), ["first", "zeroth", "second", "third"])
      assert.strictEqual((yield* agent.awaitTurn(first)).reason.kind, "aborted")
      assert.strictEqual((yield* agent.awaitTurn(second)).turn, 3)
    }).pipe(Effect.provide(world([Reply.hang([delta("1")]), ...answers(3)])))
  )

  it.scoped("at whatever moment a turn opens: everybody is told of the turn that took his message", () =>
    Effect.gen(function* () {
      const { add } = yield* LlmScripted.Script
      const runtime = yield* Effect.runtime()
      let came = true
      for (let at = 1; came; at++) {
        yield* add(...answers(2))
        const agent = yield* make()
        const second = yield* Deferred.make<MessageId>()
        const sending = Effect.intoDeferred(Effect.orDie(agent.followup("b", { at: "front" })), second)
        const race = moment(at, () => void Runtime.runFork(runtime)(sending))
        race.count(false)
        yield* agent.session.observe((entry) => {
          if ("type" in entry && entry.type === "turn/start" && entry.data.turn === 1) race.count(true)
          if ("type" in entry && entry.type === "step/start") race.count(false)
        })
        const a = yield* race.yields(agent.followup("a"))
        const first = yield* agent.awaitTurn(a)
        came = race.came()
        if (!came) yield* sending
        const outcomes = [first, yield* agent.awaitTurn(yield* Deferred.await(second))]
        yield* agent.whenIdle
        const log = outline(agent.session)
        const took = ["user a", "user b"].map((line) => (log.indexOf(line) < log.indexOf("turn 2") ? 1 : 2))
        assert.deepStrictEqual(
          outcomes,
          took.map((turn) => ({ turn, reason: { kind: "completed" }, entered: true })),
          `at moment ${at}`
        )
      }
    }).pipe(Effect.provide(world([])))
  )
})

describe("replacing pending input", () => {
  it.scoped("happens in its place, tells what went and what came, and wakes nobody", () => {
    const heard: Array<string> = []
    return Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.send("a", "next-turn", false)
      const b = yield* agent.send("b", "next-turn", false)
      yield* agent.send("c", "next-turn", false)
      const x = yield* agent.inject("x")
      const better = yield* agent.replace(b, "better")
      yield* agent.replace(x, [{ type: "text", text: "y" }])
      assert.strictEqual(agent.status(), "idle")
      assert.notStrictEqual(better, b)
      assert.deepStrictEqual(splices(agent).slice(-2), ["next-turn 1-1 +better canceled", "next-step 0-1 +y canceled"])
      assert.deepStrictEqual(heard.slice(-4), ["out b", "in better", "out x", "in y"])
      assert.strictEqual(yield* code(agent.withdraw(b)), "MESSAGE_NOT_PENDING")
      yield* agent.followup("d")
      yield* agent.whenIdle
      assert.deepStrictEqual(told(agent.session), ["y", "a", "better", "c", "d"])
      assert.strictEqual((yield* agent.awaitTurn(better)).turn, 2)
    }).pipe(Effect.provide(world(answers(4), listening(heard))))
  })

  it.scoped("tells who awaits the old message, unless the new one is that message, rewritten", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const [kept, gone] = [yield* agent.inject("kept"), yield* agent.inject("gone")]
      const waiting = yield* Effect.fork(Effect.all([agent.awaitTurn(kept), Effect.flip(agent.awaitTurn(gone))]))
      yield* Effect.yieldNow()
      assert.strictEqual(yield* agent.replace(kept, Message.user(kept, "rewritten")), kept)
      yield* agent.replace(gone, "new")
      yield* agent.steer("go")
      const [outcome, error] = yield* Fiber.join(waiting)
      assert.deepStrictEqual(outcome, { turn: 1, reason: { kind: "completed" }, entered: true })
      assert.strictEqual(error.code, "MESSAGE_DROPPED")
      assert.deepStrictEqual(told(agent.session), ["rewritten", "new", "go"])
    }).pipe(Effect.provide(world(answers(1))))
  )

  it.scoped("lets who awaits a message that a failed turn gave back wait for the turn of the new one", () => {
    let failures = 1
    const fails = AgentHooks.PreStep.hook("fail", (input, next) =>
      failures-- > 0 ? new AgentError({ code: "HOOK_FAILED", message: "not yet" }) : next(input)
    )
    return Effect.gen(function* () {
      const agent = yield* make()
      const id = yield* agent.followup("old")
      assert.isFalse((yield* agent.awaitTurn(id)).entered)
      yield* agent.whenIdle
      yield* agent.replace(id, Message.user(id, "new"))
      const waiting = yield* Effect.fork(agent.awaitTurn(id))
      yield* ask(agent, "next")
      assert.deepStrictEqual(yield* Fiber.join(waiting), { turn: 2, reason: { kind: "completed" }, entered: true })
      yield* agent.whenIdle
      assert.deepStrictEqual(told(agent.session), ["new", "next"])
    }).pipe(Effect.provide(world(answers(2), fails)))
  })

  it.scoped("fails once a turn has claimed it, before it entered as well as after", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const reached = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      yield* (yield* AgentHooks.PreStep).use("wait", (input, next) =>
        Effect.zipRight(Effect.zipRight(Deferred.succeed(reached, undefined), Deferred.await(gate)), next(input))
      )
      const id = yield* agent.followup("go")
      yield* Deferred.await(reached)
      const before = agent.session.length
      assert.strictEqual(yield* code(agent.replace(id, "stop")), "MESSAGE_NOT_PENDING")
      assert.strictEqual(agent.session.length, before)
      yield* Deferred.succeed(gate, undefined)
      yield* agent.awaitTurn(id)
      assert.strictEqual(yield* code(agent.replace(id, "stop")), "MESSAGE_NOT_PENDING")
      assert.strictEqual(yield* code(agent.replace(MessageId("unknown"), "stop")), "MESSAGE_NOT_PENDING")
      assert.deepStrictEqual(told(agent.session), ["go"])
    }).pipe(Effect.provide(world(answers(1))))
  )

  it.scoped("by a message that waits already is refused, and everything stays", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const [a, b] = [yield* agent.inject("a"), yield* agent.send("b", "next-turn", false)]
      assert.strictEqual(yield* code(agent.replace(a, Message.user(b, "b again"))), "INVALID_INBOX_SPLICE")
      assert.deepStrictEqual(pending(agent.session), ["a", "b"])
    }).pipe(Effect.provide(world([])))
  )

  it.scoped("of a disposed agent fails", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const agent = yield* Scope.extend(make(), scope)
      const id = yield* agent.inject("a")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* code(agent.replace(id, "b")), "AGENT_DISPOSED")
    }).pipe(Effect.provide(world([])))
  )

  it.scoped("replaces this message and no other, whatever leaves the list meanwhile", () =>
    Effect.gen(function* () {
      const runtime = yield* Effect.runtime()
      let came = true
      for (let at = 1; came; at++) {
        const agent = yield* make()
        const [a, b] = [yield* agent.inject("a"), yield* agent.inject("b")]
        yield* agent.inject("c")
        const race = moment(at, () => void Runtime.runFork(runtime)(agent.withdraw(a)))
        yield* race.yields(agent.replace(b, "new"))
        came = race.came()
        if (came) assert.deepStrictEqual(pending(agent.session), ["new", "c"], `at moment ${at}`)
      }
    }).pipe(Effect.provide(world([])))
  )
})

describe("whoever awaits a message", () => {
  for (const [how, change] of [
    ["withdrawn", (agent: Agent, id: MessageId) => agent.withdraw(id)],
    ["replaced", (agent: Agent, id: MessageId) => Effect.asVoid(agent.replace(id, "new"))]
  ] as const) {
    it.scoped(`that is ${how} hears of it even when the one who does that is interrupted`, () =>
      Effect.gen(function* () {
        const reached = yield* Deferred.make<void>()
        const gate = yield* Deferred.make<void>()
        const agent = yield* make({
          setup: AgentHooks.InboxDiscarded.hook("wait", () =>
            Effect.zipRight(Deferred.succeed(reached, undefined), Deferred.await(gate))
          )
        })
        const id = yield* agent.inject("old")
        const waiting = yield* Effect.fork(code(agent.awaitTurn(id)))
        yield* Effect.yieldNow()
        const changing = yield* Effect.fork(change(agent, id))
        yield* Deferred.await(reached)
        const interrupting = yield* Effect.fork(Fiber.interrupt(changing))
        yield* Effect.yieldNow()
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(interrupting)
        assert.strictEqual(yield* Fiber.join(waiting), "MESSAGE_DROPPED")
      }).pipe(Effect.provide(world([])))
    )
  }
})
