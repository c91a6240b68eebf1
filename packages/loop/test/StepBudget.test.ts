// A turn that does not come to an end of its own.
import * as AgentHooks from "@dsh/agent/AgentHooks"
import * as StepBudget from "@dsh/agent/StepBudget"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask, make, outline, pending, world } from "./support.ts"

const { Reply } = LlmScripted
const call = Reply.calls([{ name: "echo", arguments: { text: "x" } }])
const spent = { kind: "aborted", reason: { kind: "budget", of: "steps", limit: 2 } } as const
const steps = (lines: ReadonlyArray<string>) => lines.filter((line) => /^(step|result|end|user)/.test(line))

describe("the step budget", () => {
  it.scoped("ends a turn whose model never stops; its results stay, and the next prompt has a budget of its own", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const first = yield* ask(agent, "go")
      assert.deepStrictEqual(first.reason, spent)
      yield* agent.whenIdle
      const next = yield* ask(agent, "and?")
      assert.strictEqual(next.reason.kind, "completed")
      assert.deepStrictEqual(steps(outline(agent.session)), [
        "step 1",
        "user go",
        "result call_0 x",
        "end step 1",
        "step 2",
        "result call-1-2-0 x",
        "end step 2",
        "end turn 1 aborted",
        "step 1",
        "user and?",
        "end step 1",
        "end turn 2 completed"
      ])
    }).pipe(Effect.provide(world([call, call, Reply.text("ok")], StepBudget.layer({ maxSteps: 2 }))))
  )

  it.scoped("ends a turn that a hook always prolongs, and keeps what the hook said last", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      assert.deepStrictEqual((yield* ask(agent, "go")).reason, spent)
      assert.deepStrictEqual(pending(agent.session), ["again"])
    }).pipe(
      Effect.provide(
        world(
          [Reply.text("1"), Reply.text("2")],
          Layer.merge(
            StepBudget.layer({ maxSteps: 2 }),
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
    }).pipe(Effect.provide(world([call, Reply.text("ok")], StepBudget.layer({ maxSteps: 2 }))))
  )

  it.scoped("holds in the realm it is given to", () =>
    Effect.gen(function* () {
      const held = yield* make({ setup: StepBudget.layer({ maxSteps: 2 }) })
      assert.deepStrictEqual((yield* ask(held, "go")).reason, spent)
      const free = yield* make()
      assert.strictEqual((yield* ask(free, "go")).reason.kind, "completed")
    }).pipe(Effect.provide(world([call, call, call, call, call, Reply.text("ok")])))
  )

  it.scoped("is a whole number above 0", () =>
    Effect.gen(function* () {
      for (const maxSteps of [0, 1.5, Number.NaN]) {
        const error = yield* Effect.flip(make({ setup: StepBudget.layer({ maxSteps }) }))
        assert.strictEqual(error.code, "INVALID_OPTIONS")
      }
    }).pipe(Effect.provide(world([])))
  )
})
