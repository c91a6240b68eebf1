// What a log looks like: turns, steps, input and outcomes (no cancellation, no failures).
import * as AgentHooks from "@dsh/agent/AgentHooks"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { newHash } from "@dsh/llm/RequestDigest"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import { textOf } from "@dsh/protocol/Block"
import { MessageId, SessionId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import { neutral } from "@dsh/protocol/NeutralRequest"
import { verify } from "@dsh/protocol/Verify"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Runtime } from "effect"
import { ask, make, ofType, outline, until, world, events } from "./support.ts"

const { Reply } = LlmScripted
const call = (text: string) => Reply.calls([{ name: "echo", arguments: { text } }])

describe("turns", () => {
  it.scoped("one prompt, one answer", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const outcome = yield* ask(agent, "hello")
      assert.deepStrictEqual(outcome, { turn: 1, reason: { kind: "completed" }, entered: true })
      yield* agent.whenIdle
      assert.deepStrictEqual(outline(agent.session), [
        "queue next-turn",
        "turn 1",
        "step 1",
        "user hello",
        "header initial",
        "assistant hi",
        "end step 1",
        "end turn 1 completed"
      ])
      assert.deepStrictEqual(agent.session.inbox, { "next-turn": [], "next-step": [] })
      assert.strictEqual(agent.status(), "idle")
    }).pipe(Effect.provide(world([Reply.text("hi")])))
  )

  it.scoped("tool results go back until nothing is owed, and every request is rebuilt from the log", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "go")
      assert.deepStrictEqual(outline(agent.session).slice(5), [
        "assistant <echo>",
        "call call_0",
        "result call_0 one",
        "end step 1",
        "step 2",
        "assistant <echo>",
        // The provider counts from zero again; the session does not.
        "call call-1-2-0",
        "result call-1-2-0 two",
        "end step 2",
        "step 3",
        "assistant done",
        "end step 3",
        "end turn 1 completed"
      ])
      const verified = [
        ...verify(agent.session.range(0), (name) => (name === "neutral" ? neutral : undefined), newHash)
      ]
      assert.strictEqual(verified.length, 3)
      assert.isTrue(verified.every(({ problem }) => problem === undefined))
      const { requests } = yield* LlmScripted.Script
      assert.deepStrictEqual(
        requests.map(({ messages }) => messages.length),
        [1, 3, 5]
      )
    }).pipe(Effect.provide(world([call("one"), call("two"), Reply.text("done")])))
  )

  it.scoped("prompts that wait get a turn each; the header is logged once", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.followup("a")
      yield* agent.followup("b")
      yield* agent.whenIdle
      const lines = outline(agent.session)
      assert.deepStrictEqual(
        lines.filter((line) => line.startsWith("user") || line.startsWith("end turn")),
        ["user a", "end turn 1 completed", "user b", "end turn 2 completed"]
      )
      assert.strictEqual(lines.filter((line) => line.startsWith("header")).length, 1)
    }).pipe(Effect.provide(world([Reply.text("1"), Reply.text("2")])))
  )

  it.scoped("steering joins the running turn and prolongs it; it comes before the prompt of a new turn", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.inject("note")
      assert.strictEqual(agent.status(), "idle")
      const runtime = yield* Effect.runtime()
      yield* agent.session.observe((entry) => {
        if ("type" in entry && entry.type === "assistant/message" && entry.data.step === 1) {
          Runtime.runFork(runtime)(agent.steer("more"))
        }
      })
      yield* ask(agent, "go")
      yield* agent.whenIdle
      assert.deepStrictEqual(
        outline(agent.session).filter((line) => /^(user|step|end turn)/.test(line)),
        ["step 1", "user note", "user go", "step 2", "user more", "end turn 1 completed"]
      )
    }).pipe(Effect.provide(world([Reply.text("1"), Reply.text("2")])))
  )

  it.scoped("an idle agent is woken by steering and not by injecting", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.inject("quiet")
      yield* agent.whenIdle
      assert.deepStrictEqual(outline(agent.session), ["queue next-step"])
      yield* agent.steer("go")
      yield* agent.whenIdle
      assert.include(outline(agent.session), "end turn 1 completed")
    }).pipe(Effect.provide(world([Reply.text("1")])))
  )

  it.scoped("a step that hits the output ceiling never hides results that are owed", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const runtime = yield* Effect.runtime()
      yield* agent.session.observe((entry) => {
        if ("type" in entry && entry.type === "assistant/message" && entry.data.step === 1) {
          Runtime.runFork(runtime)(agent.steer("go on"))
        }
      })
      const outcome = yield* ask(agent, "long")
      assert.strictEqual(outcome.reason.kind, "max-tokens")
      assert.deepStrictEqual(
        outline(agent.session).filter((line) => /^(assistant|result)/.test(line)),
        ["assistant cut", "assistant <echo>", "result call_0 x", "assistant seen"]
      )
    }).pipe(Effect.provide(world([Reply.cut("cut"), call("x"), Reply.text("seen")])))
  )

  it.scoped("a tool may conclude the turn, unless input is pending", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const outcome = yield* ask(agent, "finish")
      assert.strictEqual(outcome.reason.kind, "completed")
      const { remaining } = yield* LlmScripted.Script
      assert.strictEqual(remaining(), 0)
    }).pipe(Effect.provide(world([Reply.calls([{ name: "conclude", arguments: {} }])])))
  )

  it.scoped("a prompt withdrawn before it was claimed leaves an empty turn", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const id = yield* agent.followup("never mind")
      yield* agent.withdraw(id)
      const error = yield* Effect.flip(agent.awaitTurn(id))
      assert.strictEqual(error.code, "MESSAGE_DROPPED")
      yield* agent.whenIdle
      assert.deepStrictEqual(outline(agent.session), ["queue next-turn", "canceled", "turn 1", "end turn 1 completed"])
    }).pipe(Effect.provide(world([])))
  )

  it.scoped("pre-step hooks own the input: what they leave out is dropped, what they refuse blocks", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const first = yield* ask(agent, "secret")
      assert.strictEqual(first.reason.kind, "blocked")
      assert.isFalse(first.entered)
      yield* ask(agent, "plain")
      assert.deepStrictEqual(
        outline(agent.session).filter((line) => !line.startsWith("header")),
        [
          "queue next-turn",
          "turn 1",
          "dropped",
          "end turn 1 blocked",
          "queue next-turn",
          "turn 2",
          "dropped",
          "step 1",
          "user PLAIN",
          "assistant ok",
          "end step 1",
          "end turn 2 completed"
        ]
      )
    }).pipe(
      Effect.provide(
        world(
          [Reply.text("ok")],
          AgentHooks.PreStep.hook("filter", ({ messages }) => {
            const text = messages.map(({ content }) => textOf(content)).join()
            return Effect.succeed(
              text === "secret"
                ? { kind: "reject" }
                : { kind: "enter", messages: [Message.user(MessageId("rewritten"), text.toUpperCase())] }
            )
          })
        )
      )
    )
  )

  it.scoped("a stopping hook prolongs the turn by steering", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "go")
      assert.deepStrictEqual(
        outline(agent.session).filter((line) => /^(user|assistant)/.test(line)),
        ["user go", "assistant 1", "user again", "assistant 2"]
      )
    }).pipe(
      Effect.provide(
        world(
          [Reply.text("1"), Reply.text("2")],
          AgentHooks.TurnStopping.hook("once more", ({ agent }) =>
            ofType(agent.session, "assistant/message").length === 1 ? Effect.orDie(agent.inject("again")) : Effect.void
          )
        )
      )
    )
  )

  it.scoped("runtime context is told when it changes and never alone starts a step", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "a")
      yield* ask(agent, "b")
      yield* ask(agent, "c")
      assert.deepStrictEqual(
        ofType(agent.session, "user/message").map(
          ({ data }) => textOf(data.content).split("\n\n")[1] ?? textOf(data.content)
        ),
        ["a", "mode 1", "b", "c", "mode 2"]
      )
    }).pipe(
      Effect.provide(
        world(
          [Reply.text("1"), Reply.text("2"), Reply.text("3")],
          SystemPrompt.layerContext({
            name: "mode",
            order: 0,
            text: ({ session }) => Effect.succeed(ofType(session, "turn/start").length < 3 ? "mode 1" : "mode 2")
          })
        )
      )
    )
  )

  it.scoped("the request hook changes the route, and the change is logged before the request", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "a")
      yield* ask(agent, "b")
      assert.deepStrictEqual(
        ofType(agent.session, "request/header").map(({ data }) => [data.reason, data.header.config.temperature]),
        [
          ["initial", 0],
          ["change", 1]
        ]
      )
    }).pipe(
      Effect.provide(
        world(
          [Reply.text("1"), Reply.text("2")],
          AgentHooks.AgentRequest.hook("heat", ({ config, turn }) =>
            Effect.succeed({ ...config, temperature: turn - 1 })
          )
        )
      )
    )
  )

  it.scoped("hooks of one agent's realm are not those of another", () =>
    Effect.gen(function* () {
      const heard: Array<string> = []
      const hear = (name: string) =>
        AgentHooks.AgentStatus.hook(name, ({ agent, status }) =>
          Effect.sync(() => void heard.push(`${name} ${agent.id} ${status}`))
        )
      const one = yield* make({ id: SessionId("one"), setup: hear("mine") })
      const two = yield* make({ id: SessionId("two") })
      yield* ask(one, "a")
      yield* ask(two, "b")
      yield* Effect.all([one.whenIdle, two.whenIdle])
      assert.deepStrictEqual(heard, ["mine one running", "mine one idle"])
    }).pipe(Effect.provide(world([Reply.text("1"), Reply.text("2")])))
  )

  it.scoped("maintenance runs alone, and what arrived meanwhile is served after it", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const value = yield* agent.maintain(
        Effect.gen(function* () {
          assert.strictEqual(agent.status(), "idle")
          yield* agent.followup("later")
          const busy = yield* Effect.flip(agent.maintain(Effect.void))
          assert.strictEqual(busy._tag === "AgentError" && busy.code, "AGENT_BUSY")
          assert.notInclude(outline(agent.session), "turn 1")
          return 42
        })
      )
      assert.strictEqual(value, 42)
      yield* agent.whenIdle
      assert.include(outline(agent.session), "end turn 1 completed")
    }).pipe(Effect.provide(world([Reply.text("1")])))
  )

  it.scoped("the first request waits for the log: chunks are logged raw and cited as a range", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.followup("go")
      yield* until(agent.session, ({ type }) => type === "turn/end")
      const [message] = ofType(agent.session, "assistant/message")
      const chunks = events(agent.session).filter(({ type }) => type === "assistant/chunk")
      assert.deepStrictEqual(message?.sourceEventSeqs, [[chunks[0]!.seq, chunks[chunks.length - 1]!.seq]])
    }).pipe(Effect.provide(world([Reply.text("hello", { reasoning: "hm" })])))
  )
})
