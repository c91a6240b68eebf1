// Another model takes over when one fails for good, and gives back.
import { LlmError } from "@dsh/llm/LlmError"
import * as LlmFallback from "@dsh/llm/LlmFallback"
import * as LlmRetry from "@dsh/llm/LlmRetry"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as RetryPolicy from "@dsh/llm/RetryPolicy"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, TestClock } from "effect"
import { ask, make, ofType, turnErrors, world } from "./support.ts"

const { Reply } = LlmScripted
const down = (code: string) => Reply.fail(new LlmError({ code, message: "no more" }))
const other = { provider: LlmScripted.provider, model: "other" }
const third = { provider: LlmScripted.provider, model: "third" }
const first = { provider: LlmScripted.provider, model: LlmScripted.model }
const chain = [first, other, third]
const call = Reply.calls([{ id: "c1", name: "echo", arguments: { text: "hi" } }])

const models = Effect.map(LlmScripted.Script, ({ requests }) => requests.map(({ header }) => header.config.model))

describe("LlmFallback", () => {
  it.scoped("goes on with the next model until the turn ends, and then back to the one that was chosen", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      assert.strictEqual((yield* ask(agent, "a")).reason.kind, "completed")
      yield* agent.whenIdle
      assert.strictEqual((yield* ask(agent, "b")).reason.kind, "completed")
      assert.deepStrictEqual(yield* models, ["scripted-1", "other", "other", "scripted-1"])
      const [switched] = ofType(agent.session, "llm/fallback")
      assert.deepInclude(switched?.data, { turn: 1, step: 1, from: first, to: other, chosen: first })
      assert.deepStrictEqual(
        ofType(agent.session, "request/header").map(({ data }) => [data.header.config.model, data.reason]),
        [
          ["scripted-1", "initial"],
          ["other", "change"],
          ["scripted-1", "change"]
        ]
      )
    }).pipe(
      Effect.provide(world([down("QUOTA"), call, Reply.text("done"), Reply.text("back")], LlmFallback.layer({ chain })))
    )
  )

  it.scoped("tries each model once per turn, and then the failure stands", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "a")
      assert.deepStrictEqual(turnErrors(agent.session), ["QUOTA"])
      assert.deepStrictEqual(yield* models, ["scripted-1", "other", "third"])
    }).pipe(Effect.provide(world([down("QUOTA"), down("SERVER"), down("QUOTA")], LlmFallback.layer({ chain }))))
  )

  it.scoped("has nothing to say about what another model would refuse as well", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "a")
      assert.deepStrictEqual(turnErrors(agent.session), ["INVALID_REQUEST"])
      assert.deepStrictEqual(yield* models, ["scripted-1"])
    }).pipe(Effect.provide(world([down("INVALID_REQUEST")], LlmFallback.layer({ chain }))))
  )

  it.scoped("waits until retrying was given up", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const asked = yield* Effect.fork(ask(agent, "a"))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(asked)).reason.kind, "completed")
      assert.deepStrictEqual(yield* models, ["scripted-1", "scripted-1", "other"])
    }).pipe(
      Effect.provide(
        world(
          [down("SERVER"), down("SERVER"), Reply.text("done")],
          Layer.merge(LlmFallback.layer({ chain }), LlmRetry.layerPolicy({ ...RetryPolicy.normal, maxRetries: 1 }))
        )
      )
    )
  )
})
