// Failed requests, tried again by the policy of their route, to the millisecond.
import { LlmError } from "@dsh/llm/LlmError"
import * as LlmRetry from "@dsh/llm/LlmRetry"
import * as RetryPolicy from "@dsh/llm/RetryPolicy"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as AgentHooks from "@dsh/agent/AgentHooks"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Random, TestClock } from "effect"
import { ask, make, ofType, turnErrors, until, world } from "./support.ts"

const { Reply } = LlmScripted
const down = (code = "SERVER", providerRetryAfterMs?: number) =>
  Reply.fail(
    new LlmError({
      code,
      message: "down for now",
      ...(providerRetryAfterMs !== undefined && { providerRetryAfterMs })
    }),
    [{ type: "text-delta", index: 0, text: "par" }]
  )

/** Neither early nor late. */
const steady = Effect.withRandom(Random.fixed([0.5]))

const waits = (session: Parameters<typeof ofType>[0]) =>
  ofType(session, "llm/retry").map(({ data: { delayMs, retry } }) => [retry, delayMs])

describe("LlmRetry", () => {
  it.scoped("waits half a second, then twice as long each time, and sends the same request", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const asked = yield* Effect.fork(ask(agent, "a"))
      for (const delay of [500, 1000]) {
        const before = ofType(agent.session, "llm/retry-started").length
        yield* until(
          agent.session,
          ({ type }) => type === "llm/retry" && ofType(agent.session, "llm/retry").length > before
        )
        yield* TestClock.adjust(delay - 1)
        assert.strictEqual(ofType(agent.session, "llm/retry-started").length, before)
        yield* TestClock.adjust(1)
      }
      assert.strictEqual((yield* Fiber.join(asked)).reason.kind, "completed")
      assert.deepStrictEqual(waits(agent.session), [
        [1, 500],
        [2, 1000]
      ])
      const [first, second] = ofType(agent.session, "llm/retry")
      assert.strictEqual(first?.data.retryId, second?.data.retryId)
      assert.deepInclude(first?.data, { turn: 1, step: 1, mode: "normal", maxRetries: 5 })
      const digests = new Set(ofType(agent.session, "request/sent").map(({ data }) => data.sha256))
      assert.strictEqual(digests.size, 1)
      // What the failed attempts streamed derives nothing.
      assert.strictEqual(ofType(agent.session, "assistant/message").length, 1)
    }).pipe(steady, Effect.provide(world([down(), down(), Reply.text("ok")], LlmRetry.layer)))
  )

  it.scoped("gives up after five retries, and begins anew in the next turn", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const asked = yield* Effect.fork(ask(agent, "a"))
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(asked)
      assert.deepStrictEqual(turnErrors(agent.session), ["SERVER"])
      assert.deepStrictEqual(
        waits(agent.session).map(([retry]) => retry),
        [1, 2, 3, 4, 5]
      )
      yield* agent.whenIdle
      const again = yield* Effect.fork(ask(agent, "b"))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(again)).reason.kind, "completed")
      assert.deepStrictEqual(waits(agent.session).at(-1), [1, 500])
    }).pipe(
      steady,
      Effect.provide(world([...Array.from({ length: 6 }, () => down()), down(), Reply.text("ok")], LlmRetry.layer))
    )
  )

  it.scoped("does not try again what will not pass, or what the provider wants to be left alone for long", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      for (const text of ["a", "b"]) {
        yield* ask(agent, text)
        yield* agent.whenIdle
      }
      assert.deepStrictEqual(turnErrors(agent.session), ["AUTH", "RATE_LIMIT"])
      const [, second] = ofType(agent.session, "turn/end")
      assert.include(JSON.stringify(second?.data.reason), "asks to wait 60 min")
      assert.deepStrictEqual(waits(agent.session), [])
    }).pipe(steady, Effect.provide(world([down("AUTH"), down("RATE_LIMIT", 3_600_000)], LlmRetry.layer)))
  )

  it.scoped("a cancel ends the wait at once: nothing is sent, and the turn is aborted", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const asked = yield* Effect.fork(ask(agent, "a"))
      yield* until(agent.session, ({ type }) => type === "llm/retry")
      yield* agent.cancel({ kind: "user" })
      assert.strictEqual((yield* Fiber.join(asked)).reason.kind, "aborted")
      assert.deepStrictEqual(ofType(agent.session, "llm/retry-started"), [])
      assert.strictEqual((yield* LlmScripted.Script).requests.length, 1)
    }).pipe(steady, Effect.provide(world([down()], LlmRetry.layer)))
  )

  it.scoped("in mode always it asks others first, and goes on for ever", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const asked = yield* Effect.fork(ask(agent, "a"))
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual((yield* Fiber.join(asked)).reason.kind, "completed")
      // The first failure was somebody else's to recover from.
      assert.deepStrictEqual(
        waits(agent.session).map(([retry]) => retry),
        Array.from({ length: 11 }, (_, i) => i + 1)
      )
      assert.notProperty(ofType(agent.session, "llm/retry")[0]?.data, "maxRetries")
    }).pipe(
      steady,
      Effect.provide(
        world(
          [...Array.from({ length: 12 }, () => down("AUTH")), Reply.text("ok")],
          Layer.merge(
            LlmRetry.layerPolicy({ ...RetryPolicy.normal, mode: "always" }),
            AgentHooks.RequestError.hook(
              "once",
              (request, next) => (request.attempt === 1 ? Effect.succeed({ kind: "retry" }) : next(request)),
              { order: 10 }
            )
          )
        )
      )
    )
  )
})
