// One fault at a time: how the turn ends, and that the agent is usable afterwards.
import { AgentError } from "@dsh/agent/AgentError"
import { Agents } from "@dsh/agent/Agents"
import * as AgentHooks from "@dsh/agent/AgentHooks"
import { LlmError } from "@dsh/llm/LlmError"
import * as Llm from "@dsh/llm/Llm"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { ask, make, ofType, once, outline, turnErrors, world } from "./support.ts"

const { Reply } = LlmScripted
const server = new LlmError({ code: "SERVER", message: "down for now", status: 503 })

describe("failures", () => {
  it.scoped("the model fails: error turn with its code, nothing finalised, the next prompt works", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const outcome = yield* ask(agent, "a")
      assert.deepStrictEqual(outcome.reason, {
        kind: "error",
        error: { code: "SERVER", message: "down for now", status: 503 }
      })
      assert.strictEqual(ofType(agent.session, "assistant/message").length, 0)
      assert.deepStrictEqual(
        ofType(agent.session, "assistant/chunk").map(({ data }) => data.chunk.type),
        ["text-delta", "finish"]
      )
      yield* agent.whenIdle
      const next = yield* ask(agent, "b")
      assert.strictEqual(next.reason.kind, "completed")
      const { requests } = yield* LlmScripted.Script
      assert.strictEqual(requests[1]?.messages.length, 2)
    }).pipe(
      Effect.provide(world([Reply.fail(server, [{ type: "text-delta", index: 0, text: "par" }]), Reply.text("ok")]))
    )
  )

  it.scoped("recovery asks for another attempt: same step, the failed chunks stay uncited", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const outcome = yield* ask(agent, "a")
      assert.strictEqual(outcome.reason.kind, "completed")
      assert.deepStrictEqual(
        ofType(agent.session, "request/sent").map(({ data }) => [data.step, data.attempt]),
        [
          [1, 1],
          [1, 2]
        ]
      )
      const [first, second] = ofType(agent.session, "request/sent")
      assert.strictEqual(first?.data.sha256, second?.data.sha256)
      const [message] = ofType(agent.session, "assistant/message")
      assert.isTrue((message?.sourceEventSeqs ?? []).flat().every((seq) => seq > (second?.seq ?? 0)))
    }).pipe(
      Effect.provide(
        world(
          [Reply.fail(server, [{ type: "text-delta", index: 0, text: "par" }]), Reply.text("ok")],
          AgentHooks.RequestError.hook("again", (request, next) =>
            request.attempt === 1 && request.failure.code === "SERVER"
              ? Effect.succeed({ kind: "retry" })
              : next(request)
          )
        )
      )
    )
  )

  it.scoped("a failure of the stream middleware reaches the recovery hook, too", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const outcome = yield* ask(agent, "a")
      assert.strictEqual(outcome.reason.kind, "completed")
    }).pipe(
      Effect.provide(
        world(
          [Reply.text("ok")],
          Layer.merge(
            Layer.unwrapEffect(
              Effect.sync(() => {
                let n = 0
                return Llm.LlmStream.hook("flaky", (request, next) =>
                  n++ === 0 ? Effect.fail(new LlmError({ code: "TRANSPORT", message: "lost" })) : next(request)
                )
              })
            ),
            AgentHooks.RequestError.hook("again", () => Effect.succeed({ kind: "retry" }))
          )
        )
      )
    )
  )

  it.scoped("a route nobody serves: middleware may, else NO_ADAPTER", () =>
    Effect.gen(function* () {
      const agent = yield* make({ provider: "elsewhere", model: "m" })
      const served = yield* ask(agent, "a")
      assert.strictEqual(served.reason.kind, "completed")
      yield* agent.whenIdle
      const missed = yield* ask(agent, "b")
      assert.strictEqual(missed.reason.kind === "error" && missed.reason.error.code, "NO_ADAPTER")
    }).pipe(
      Effect.provide(
        world(
          [],
          Llm.LlmStream.hook("serve once", (request, next) =>
            request.messages.length === 1
              ? Effect.succeed(
                  Stream.make(
                    { type: "text-delta", index: 0, text: "from middleware" } as const,
                    { type: "finish", reason: { kind: "stop" } } as const
                  )
                )
              : next(request)
          )
        )
      )
    )
  )

  it.scoped("without a model: NO_MODEL, and the prompt is still pending", () =>
    Effect.gen(function* () {
      const agent = yield* (yield* Agents).create({})
      const outcome = yield* ask(agent, "a")
      assert.isFalse(outcome.entered)
      assert.deepStrictEqual(turnErrors(agent.session), ["NO_MODEL"])
      assert.strictEqual(agent.session.inbox["next-turn"].length, 1)
    }).pipe(Effect.provide(world([])))
  )

  it.scoped("assembly fails: no step, the prompt is still pending, the next turn takes it up", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const first = yield* ask(agent, "a")
      assert.isFalse(first.entered)
      assert.deepStrictEqual(outline(agent.session), ["queue next-turn", "turn 1", "end turn 1 error"])
      yield* agent.whenIdle
      yield* agent.steer("b")
      yield* agent.whenIdle
      assert.deepStrictEqual(
        outline(agent.session).filter((line) => /^(user|end turn)/.test(line)),
        ["end turn 1 error", "user b", "user a", "end turn 2 completed"]
      )
    }).pipe(
      Effect.provide(
        world(
          [Reply.text("ok")],
          Layer.unwrapEffect(
            Effect.sync(() => {
              const failing = Effect.fail(new SystemPrompt.PromptError({ code: "SECTION_FAILED", message: "not now" }))
              const text = once(failing)(Effect.succeed("fine"))
              return SystemPrompt.layerSection({ name: "flaky", order: 0, text: () => text })
            })
          )
        )
      )
    )
  )

  it.scoped("a hook that fails or dies ends the turn, never the agent", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "a")
      yield* agent.whenIdle
      yield* agent.withdraw(agent.session.inbox["next-turn"][0]!.id)
      yield* ask(agent, "b")
      assert.deepStrictEqual(turnErrors(agent.session), ["HOOK_FAILED", "UNKNOWN"])
    }).pipe(
      Effect.provide(
        world(
          [],
          AgentHooks.PreStep.hook("bad", ({ turn }) =>
            turn === 1
              ? Effect.fail(new AgentError({ code: "HOOK_FAILED", message: "no" }))
              : Effect.die(new Error("worse"))
          )
        )
      )
    )
  )

  it.scoped("a failing observer of the log changes nothing", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.session.observe(() => {
        throw new Error("observer")
      })
      const outcome = yield* ask(agent, "a")
      assert.strictEqual(outcome.reason.kind, "completed")
    }).pipe(Effect.provide(world([Reply.text("ok")])))
  )

  it.scoped("agent/error hears what failed", () =>
    Effect.gen(function* () {
      const heard: Array<string> = []
      const agent = yield* make({
        setup: AgentHooks.AgentFailed.hook("listen", ({ failure, step, turn }) =>
          Effect.sync(() => void heard.push(`${turn}.${step} ${failure.code}`))
        )
      })
      yield* ask(agent, "a")
      assert.deepStrictEqual(heard, ["1.1 SERVER"])
    }).pipe(Effect.provide(world([Reply.fail(server)])))
  )
})
