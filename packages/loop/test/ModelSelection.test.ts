// An agent changes its model while it lives: from which request on, and what the prompt says of it.
import { Agents } from "@dsh/agent/Agents"
import type { Agent } from "@dsh/agent/Agent"
import * as AgentHooks from "@dsh/agent/AgentHooks"
import { ModelSelection } from "@dsh/agent/ModelSelection"
import type { Selection } from "@dsh/agent/ModelSelection"
import { LlmError } from "@dsh/llm/LlmError"
import * as LlmFallback from "@dsh/llm/LlmFallback"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import type { Session } from "@dsh/session/Session"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Layer, Runtime, Stream } from "effect"
import { moment } from "./moment.ts"
import { ask, make, ofType, turnErrors, world } from "./support.ts"

const { Reply } = LlmScripted
const provider = LlmScripted.provider
const first: Selection = { provider, model: LlmScripted.model }
const second: Selection = { provider, model: "second" }
const third: Selection = { provider, model: "third" }
const call = (id: string) => Reply.calls([{ id, name: "echo", arguments: { text: "hi" } }])
const down = Reply.fail(new LlmError({ code: "QUOTA", message: "no more" }))

const select = (agent: Agent, selection: Selection) =>
  Effect.flatMap(ModelSelection, (models) => models.set(agent, selection))

const models = Effect.map(LlmScripted.Script, ({ requests }) => requests.map(({ header }) => header.config.model))

/** A prompt that names the model in both ways that there are. */
const prompt = Layer.scopedDiscard(
  Effect.gen(function* () {
    const prompt = yield* SystemPrompt
    yield* prompt.variable("model", ({ model }) => model)
    yield* prompt.section({ name: "persona", order: 0, text: "You are {{model}}." })
    yield* prompt.section({ name: "habits", order: 1, text: ({ model }) => Effect.succeed(`Be ${model}.`) })
  })
)

/** Of each header of the log: the model that is asked, and whether the prompt says so. */
const headers = (session: Session) =>
  ofType(session, "request/header").map(({ data: { header } }) => {
    const { model } = header.config
    const agrees = header.system === `You are ${model}.\n\nBe ${model}.`
    return agrees ? model : `${model}, told "${header.system}"`
  })

describe("a model that is chosen", () => {
  it.scoped("while a step runs is asked from the next step on, and the prompt says so", () =>
    Effect.gen(function* () {
      const runtime = yield* Effect.runtime<ModelSelection>()
      const agent = yield* make()
      yield* agent.session.observe((entry) => {
        if ("type" in entry && entry.type === "request/sent" && entry.data.step === 1) {
          Runtime.runSync(runtime)(select(agent, second))
        }
      })
      yield* ask(agent, "go")
      yield* agent.whenIdle
      yield* ask(agent, "again")
      assert.deepStrictEqual(yield* models, [first.model, "second", "second"])
      assert.deepStrictEqual(headers(agent.session), [first.model, "second"])
      assert.deepStrictEqual(
        ofType(agent.session, "request/context").map(({ data }) => data.model),
        [first.model, "second"]
      )
    }).pipe(Effect.provide(world([call("c1"), Reply.text("1"), Reply.text("2")], prompt)))
  )

  it.scoped("at whatever moment: no request goes to another model than its prompt names", () =>
    Effect.gen(function* () {
      const { add } = yield* LlmScripted.Script
      const runtime = yield* Effect.runtime<ModelSelection>()
      let came = true
      const seen = new Set<string>()
      for (let at = 1; came; at++) {
        yield* add(call(`c${at}`), Reply.text("done"))
        const agent = yield* make()
        const race = moment(at, () => Runtime.runSync(runtime)(select(agent, second)))
        race.count(false)
        yield* agent.session.observe((entry) => {
          if ("type" in entry && entry.type === "turn/start") race.count(true)
          if ("type" in entry && entry.type === "request/sent") race.count(false)
        })
        const id = yield* race.yields(agent.followup("go"))
        yield* agent.awaitTurn(id)
        came = race.came()
        const told = headers(agent.session).join()
        if (came) seen.add(told)
        assert.include(["second", `${first.model},second`, first.model], told, `at moment ${at}`)
      }
      assert.deepStrictEqual([...seen], ["second", `${first.model},second`])
    }).pipe(Effect.provide(world([], prompt)))
  )

  it.scoped("takes an effort that was meant for another one away, brings its own, and leaves the limits", () =>
    Effect.gen(function* () {
      const agent = yield* make({ reasoningEffort: "high", maxTokens: 77 })
      yield* ask(agent, "a")
      yield* select(agent, second)
      yield* ask(agent, "b")
      yield* select(agent, { ...second, reasoningEffort: "max" })
      yield* ask(agent, "c")
      yield* select(agent, second)
      yield* ask(agent, "d")
      const { requests } = yield* LlmScripted.Script
      assert.deepStrictEqual(
        requests.map(({ header }) => header.config),
        [
          { ...first, reasoningEffort: "high", maxTokens: 77 },
          { ...second, maxTokens: 77 },
          { ...second, reasoningEffort: "max", maxTokens: 77 },
          { ...second, maxTokens: 77 }
        ]
      )
    }).pipe(Effect.provide(world(["1", "2", "3", "4"].map((text) => Reply.text(text)))))
  )

  it.scoped("before the first request needs no other, and takes no effort over", () =>
    Effect.gen(function* () {
      const agent = yield* (yield* Agents).create({ reasoningEffort: "high" })
      yield* ask(agent, "a")
      assert.deepStrictEqual(turnErrors(agent.session), ["NO_MODEL"])
      yield* select(agent, second)
      yield* ask(agent, "b")
      const { requests } = yield* LlmScripted.Script
      assert.deepStrictEqual(
        requests.map(({ header }) => header.config),
        [second, second]
      )
    }).pipe(Effect.provide(world([Reply.text("1"), Reply.text("2")])))
  )

  it.scoped("is that of one agent, and of those that go on with its session", () =>
    Effect.gen(function* () {
      const [agent, other] = [yield* make(), yield* make()]
      yield* select(agent, second)
      yield* ask(agent, "a")
      yield* ask(other, "b")
      const forked = yield* (yield* Agents).fork({ source: agent.id })
      yield* ask(forked, "c")
      assert.deepStrictEqual(yield* models, ["second", first.model, "second"])
    }).pipe(Effect.provide(world(["1", "2", "3"].map((text) => Reply.text(text)))))
  )

  it.scoped("is not what a fallback is overruled by; one that is chosen meanwhile is asked after it", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const runtime = yield* Effect.runtime<ModelSelection>()
      yield* select(agent, second)
      yield* ask(agent, "a")
      yield* agent.whenIdle
      assert.deepStrictEqual(yield* models, ["second", first.model, first.model])
      // The step that fell back began with a prompt for the model that failed.
      assert.deepStrictEqual(headers(agent.session), ["second", first.model])
      yield* agent.session.observe((entry) => {
        if ("type" in entry && entry.type === "llm/fallback") Runtime.runSync(runtime)(select(agent, third))
      })
      yield* ask(agent, "b")
      yield* agent.whenIdle
      yield* ask(agent, "c")
      assert.deepStrictEqual((yield* models).slice(3), ["second", first.model, first.model, "third"])
      assert.deepStrictEqual(headers(agent.session).slice(2), ["second", first.model, "third"])
    }).pipe(
      Effect.provide(
        world(
          [down, call("c1"), Reply.text("1"), down, call("c2"), Reply.text("2"), Reply.text("3")],
          Layer.merge(prompt, LlmFallback.layer({ chain: [first] }))
        )
      )
    )
  )

  it.scoped("stands until a request has gone to it: a hook may send others elsewhere", () => {
    let rerouted = 1
    const reroute = AgentHooks.AgentRequest.hook("reroute", (input, next) =>
      next(rerouted-- > 0 ? { ...input, config: { ...input.config, ...third } } : input)
    )
    return Effect.gen(function* () {
      const agent = yield* make()
      yield* select(agent, second)
      yield* ask(agent, "a")
      yield* ask(agent, "b")
      assert.deepStrictEqual(yield* models, ["third", "second"])
    }).pipe(Effect.provide(world([Reply.text("1"), Reply.text("2")], reroute)))
  })
})

describe("changes", () => {
  it.scoped("begin with what is chosen, and are those of the agent", () =>
    Effect.gen(function* () {
      const service = yield* ModelSelection
      const [agent, other] = [yield* make(), yield* make()]
      assert.isUndefined(service.get(agent))
      yield* service.set(agent, first)
      const heard: Array<string> = []
      const listening = yield* service.changes(agent).pipe(
        Stream.tap(({ model }) => Effect.sync(() => void heard.push(model))),
        Stream.take(3),
        Stream.runCollect,
        Effect.fork
      )
      while (heard.length === 0) yield* Effect.yieldNow()
      yield* service.set(other, third)
      yield* service.set(agent, second)
      while (heard.length === 1) yield* Effect.yieldNow()
      yield* service.set(agent, first)
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(listening)), [first, second, first])
      assert.deepStrictEqual([service.get(agent), service.get(other)], [first, third])
    }).pipe(Effect.provide(world([])))
  )
})
