// Agents that do not come to an end of their own, or use more than somebody wants to pay for.
import { Budgets, ModelPrices } from "@dsh/agent/Budgets"
import type { Limits, Rationed } from "@dsh/agent/Budgets"
import * as AgentHooks from "@dsh/agent/AgentHooks"
import * as BudgetsPerTree from "@dsh/agent/BudgetsPerTree"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import type { PriceTable } from "@dsh/protocol/Prices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, TestClock } from "effect"
import { Stage, ask, make, ofType, outline, pending, until, world } from "./support.ts"

const { Reply } = LlmScripted
const call = Reply.calls([{ name: "echo", arguments: { text: "x" } }])
const wait = (name: string) => Reply.calls([{ name: "shared", arguments: { name } }])
const usage = { inputTokens: 60, cacheReadTokens: 30, outputTokens: 10 }
const dear = Reply.text("dear", { usage })
const steps = (lines: ReadonlyArray<string>) => lines.filter((line) => /^(step|result|end|user)/.test(line))
const over = (of: Rationed, limit: number, more = {}) =>
  ({ kind: "aborted", reason: { kind: "budget", of, limit, ...more } }) as const

/** A request of `usage` costs 0.163. */
const prices: PriceTable = new Map([
  [
    `${LlmScripted.provider}/${LlmScripted.model}`,
    [{ from: 0, currency: "USD", input: 1000, cacheRead: 100, cacheWrite: 1000, output: 10_000 }]
  ]
])

const rationed = (limits: Limits) =>
  BudgetsPerTree.layer(limits).pipe(Layer.provide(Layer.succeed(ModelPrices, prices)))

const budgets = Effect.orDie(Effect.flatten(Effect.serviceOption(Budgets)))

describe("a budget of steps", () => {
  it.scoped("ends an agent whose model never stops; its results stay, and one that is given anew counts anew", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      for (const prompt of ["go", "and?"]) {
        assert.deepStrictEqual((yield* ask(agent, prompt)).reason, over("steps", 2))
        yield* agent.whenIdle
      }
      yield* (yield* budgets).give(agent, { steps: 2 })
      assert.strictEqual((yield* ask(agent, "and now?")).reason.kind, "completed")
      assert.deepStrictEqual(steps(outline(agent.session)), [
        "step 1",
        "user go",
        "result call_0 x",
        "end step 1",
        "step 2",
        "result call-1-2-0 x",
        "end step 2",
        "end turn 1 aborted",
        "end turn 2 aborted",
        "step 1",
        "user and?",
        "end step 1",
        "end turn 3 completed",
        "step 1",
        "user and now?",
        "end step 1",
        "end turn 4 completed"
      ])
    }).pipe(Effect.provide(world([call, call, Reply.text("1"), Reply.text("2")], rationed({ steps: 2 }))))
  )

  it.scoped("ends a turn that a hook always prolongs, and keeps what the hook said last", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      assert.deepStrictEqual((yield* ask(agent, "go")).reason, over("steps", 2))
      assert.deepStrictEqual(pending(agent.session), ["again"])
    }).pipe(
      Effect.provide(
        world(
          [Reply.text("1"), Reply.text("2")],
          Layer.merge(
            rationed({ steps: 2 }),
            AgentHooks.TurnStopping.hook("always", ({ agent }) => Effect.orDie(agent.inject("again")))
          )
        )
      )
    )
  )

  it.scoped("is not touched by a turn that needs all of it", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      assert.strictEqual((yield* ask(agent, "go")).reason.kind, "completed")
    }).pipe(Effect.provide(world([call, Reply.text("ok")], rationed({ steps: 2 }))))
  )

  it.scoped("is shared with those that work for the agent, and not with others", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const child = yield* make({ parent: agent })
      const grandchild = yield* make({ parent: child })
      assert.deepStrictEqual(child.session.header.delegationDepth, 1)
      assert.strictEqual((yield* ask(grandchild, "deep")).reason.kind, "completed")
      assert.strictEqual((yield* ask(child, "go")).reason.kind, "completed")
      assert.deepStrictEqual((yield* ask(agent, "go")).reason, over("steps", 2))
      const other = yield* make()
      assert.strictEqual((yield* ask(other, "go")).reason.kind, "completed")
      const { spent } = (yield* budgets).of(grandchild)!
      assert.deepInclude(yield* spent, { steps: 2, turns: 3 })
    }).pipe(Effect.provide(world([Reply.text("1"), Reply.text("2"), Reply.text("3")], rationed({ steps: 2 }))))
  )

  it.scoped("is not exceeded by agents that ask at the same time", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const children = yield* Effect.replicateEffect(make({ parent: agent }), 5)
      const ends = yield* Effect.forEach(children, (child) => ask(child, "go"), { concurrency: "unbounded" })
      const done = ends.filter(({ reason }) => reason.kind === "completed")
      assert.strictEqual(done.length, 3)
    }).pipe(
      Effect.provide(
        world(
          Array.from({ length: 5 }, (_, i) => Reply.text(`${i}`)),
          Layer.merge(
            rationed({ steps: 3 }),
            AgentHooks.PreStep.hook("slow", (input, next) => Effect.zipRight(Effect.yieldNow(), next(input)))
          )
        )
      )
    )
  )

  it.scoped("can be each agent's own", () =>
    Effect.gen(function* () {
      const { give, of } = yield* budgets
      const held = yield* make()
      const free = yield* make()
      yield* give(held, { steps: 1 })
      assert.deepStrictEqual((yield* ask(held, "go")).reason, over("steps", 1))
      assert.strictEqual((yield* ask(free, "go")).reason.kind, "completed")
      assert.isUndefined(of(free))
    }).pipe(Effect.provide(world([call, call, Reply.text("ok")], rationed({}))))
  )
})

describe("a budget of turns", () => {
  it.scoped("ends the turn after the last", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      assert.strictEqual((yield* ask(agent, "1")).reason.kind, "completed")
      assert.deepStrictEqual((yield* ask(agent, "2")).reason, over("turns", 1))
    }).pipe(Effect.provide(world([Reply.text("1"), Reply.text("2")], rationed({ turns: 1 }))))
  )
})

describe("a budget of tokens", () => {
  it.scoped("counts them in and out, and answers the request that crosses it", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      assert.strictEqual((yield* ask(agent, "1")).reason.kind, "completed")
      assert.strictEqual((yield* ask(agent, "2")).reason.kind, "completed")
      assert.deepStrictEqual((yield* ask(agent, "3")).reason, over("tokens", 101))
      assert.strictEqual((yield* (yield* budgets).of(agent)!.spent).tokens, 200)
    }).pipe(Effect.provide(world([dear, dear, dear], rationed({ tokens: 101 }))))
  )

  it.scoped("estimates an answer that nobody reported the usage of", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const long = Array.from({ length: 500 }, (_, i) => `word${i}`).join(" ")
      assert.strictEqual((yield* ask(agent, long)).reason.kind, "completed")
      assert.deepStrictEqual((yield* ask(agent, "2")).reason, over("tokens", 500))
    }).pipe(Effect.provide(world([Reply.text("ok"), Reply.text("ok")], rationed({ tokens: 500 }))))
  )
})

describe("a budget of cost", () => {
  it.scoped("adds up what requests cost", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      assert.strictEqual((yield* ask(agent, "1")).reason.kind, "completed")
      assert.strictEqual((yield* ask(agent, "2")).reason.kind, "completed")
      assert.deepStrictEqual((yield* ask(agent, "3")).reason, over("cost", 0.2, { unit: "USD" }))
      const { cost } = yield* (yield* budgets).of(agent)!.spent
      assert.closeTo(cost.amounts.get("USD") ?? 0, 0.326, 1e-9)
    }).pipe(Effect.provide(world([dear, dear, dear], rationed({ cost: { amount: 0.2, currency: "USD" } }))))
  )

  it.scoped("asks no model that has no price in its currency", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      assert.strictEqual((yield* ask(agent, "1")).reason.kind, "completed")
      const other = yield* make({ model: "unheard-of" })
      const unpriced = { unit: "USD", unpriced: "scripted/unheard-of" }
      assert.deepStrictEqual((yield* ask(other, "1")).reason, over("cost", 1, unpriced))
      yield* (yield* budgets).give(agent, { cost: { amount: 1, currency: "EUR" } })
      const foreign = { unit: "EUR", unpriced: `scripted/${LlmScripted.model}` }
      assert.deepStrictEqual((yield* ask(agent, "2")).reason, over("cost", 1, foreign))
      assert.deepStrictEqual(ofType(other.session, "request/sent"), [])
    }).pipe(Effect.provide(world([dear], rationed({ cost: { amount: 1, currency: "USD" } }))))
  )
})

describe("a budget of time", () => {
  it.scoped("interrupts a request, and keeps what was said", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const asked = yield* Effect.fork(ask(agent, "go"))
      yield* until(agent.session, ({ type }) => type === "assistant/chunk")
      yield* TestClock.adjust(999)
      assert.strictEqual(agent.status(), "running")
      yield* TestClock.adjust(1)
      assert.deepStrictEqual((yield* Fiber.join(asked)).reason, over("time", 1000))
      assert.include(outline(agent.session), "assistant (interrupted) half")
    }).pipe(
      Effect.provide(world([Reply.hang([{ type: "text-delta", index: 0, text: "half" }])], rationed({ timeMs: 1000 })))
    )
  )

  it.scoped("interrupts the tools of an agent and those who work for it, each for the same reason", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const child = yield* make({ parent: agent })
      const asked = yield* Effect.fork(ask(agent, "go"))
      yield* until(agent.session, ({ type }) => type === "tool/call")
      const called = yield* Effect.fork(ask(child, "go"))
      yield* until(child.session, ({ type }) => type === "tool/call")
      yield* TestClock.adjust(1000)
      for (const fiber of [asked, called]) assert.deepStrictEqual((yield* Fiber.join(fiber)).reason, over("time", 1000))
      const { log } = yield* Stage
      assert.includeMembers(log, ["abort a", "abort b"])
      assert.deepStrictEqual((yield* ask(agent, "more")).reason, over("time", 1000))
    }).pipe(Effect.provide(world([wait("a"), wait("b")], rationed({ timeMs: 1000 }))))
  )

  it.scoped("is over with the agent", () =>
    Effect.gen(function* () {
      const other = yield* make()
      yield* Effect.scoped(make())
      yield* TestClock.adjust(500)
      yield* (yield* budgets).give(other, { timeMs: 1000 })
      yield* TestClock.adjust(600)
      assert.strictEqual((yield* ask(other, "go")).reason.kind, "completed")
    }).pipe(Effect.provide(world([Reply.text("ok")], rationed({ timeMs: 1000 }))))
  )
})

describe("a budget that makes no sense", () => {
  const limits: ReadonlyArray<Limits> = [
    { steps: 0 },
    { turns: 1.5 },
    { tokens: Number.NaN },
    { timeMs: -1 },
    { cost: { amount: 0, currency: "USD" } }
  ]
  it.scoped("is refused", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const { give } = yield* budgets
      for (const limit of limits) {
        assert.strictEqual((yield* Effect.flip(give(agent, limit))).code, "INVALID_OPTIONS")
        assert.strictEqual((yield* Effect.flip(Layer.build(rationed(limit)))).code, "INVALID_OPTIONS")
      }
    }).pipe(Effect.provide(Layer.provideMerge(world([], rationed({})), AgentHooks.layer)))
  )
})
