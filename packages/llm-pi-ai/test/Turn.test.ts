// An agent on pi-ai: a turn with tools, taken up again from its log, whose every request is proved by that log.
import { Agents } from "@dsh/agent/Agents"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as LlmPiAi from "@dsh/llm-pi-ai/LlmPiAi"
import { newHash } from "@dsh/llm/RequestDigest"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import { SessionId } from "@dsh/protocol/Ids"
import { neutral } from "@dsh/protocol/NeutralRequest"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import { verify } from "@dsh/protocol/Verify"
import { SessionRestore } from "@dsh/session/Sessions"
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import * as Tool from "@dsh/tools/Tool"
import * as Tools from "@dsh/tools/Tools"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { apis } from "./support.ts"

const id = SessionId("s")

describe.each(apis)("an agent on %s", (api) => {
  it.scopedLive("runs tools, is resumed with its thoughts, and every request of it can be proved", () =>
    Effect.gen(function* () {
      const ran: Array<string> = []
      const echo = Tool.make({
        name: "echo",
        description: "Says it back.",
        parameters: Schema.Struct({ text: Schema.String }),
        output: Schema.String,
        execute: ({ text }) => Effect.sync(() => (ran.push(text), text)),
        render: (_, value) => value
      })
      const calls = ["one", "two"].map((text) => ({ id: `call-${text}`, name: "echo", arguments: { text } }))
      const cut = Reply.toolCalls([{ name: "echo", arguments: { text: "never" } }], {
        ending: "reset",
        finish: null,
        done: false
      })
      const server = yield* MockLlm.make({
        script: Script.sequence([
          Reply.message({ reasoning: "because", text: "so", toolCalls: calls }),
          Reply.text("done"),
          cut,
          Reply.text("again")
        ])
      })
      const model = LlmPiAi.layer({
        provider: "pi",
        api,
        baseUrl: server.url,
        apiKey: Effect.succeedSome(Redacted.make("sk-test-0123456789")),
        efforts: ["low"],
        reasoningEffort: "low"
      })
      const stored = new Map<
        string,
        { readonly header: SessionHeader; readonly entries: ReadonlyArray<SessionEvent> }
      >()
      const shelf = SessionRestore.hook("shelf", ({ id }) => Effect.succeed(Option.fromNullable(stored.get(id))))
      const world = Layer.mergeAll(Tools.layerTool(echo), shelf).pipe(
        Layer.provideMerge(Layer.merge(AgentLoop.layer, Layer.provide(model, HttpClientNode.layer))),
        Layer.provideMerge(Definitions.layer)
      )

      yield* Effect.gen(function* () {
        const agents = yield* Agents
        yield* Effect.scoped(
          Effect.gen(function* () {
            const agent = yield* agents.create({ id, cwd: "/w", provider: "pi", model: "m" })
            const first = yield* Effect.flatMap(agent.followup("go"), agent.awaitTurn)
            assert.deepStrictEqual(first.reason, { kind: "completed" })
            // A step that breaks off runs no tool.
            const second = yield* Effect.flatMap(agent.followup("more"), agent.awaitTurn)
            assert.strictEqual(second.reason.kind, "error")
            yield* agent.whenIdle
            const entries = JSON.parse(JSON.stringify([...agent.session.range(0)])) as ReadonlyArray<SessionEvent>
            stored.set(id, { header: agent.session.header, entries })
          })
        )
        assert.deepStrictEqual(ran, ["one", "two"])
        const agent = yield* agents.resume({ id })
        const third = yield* Effect.flatMap(agent.followup("and now?"), agent.awaitTurn)
        assert.deepStrictEqual(third.reason, { kind: "completed" })

        const verified = [...verify(agent.session.range(0), () => neutral, newHash)]
        assert.deepStrictEqual(
          verified.map(({ of, problem }) => [of, problem]),
          Array.from({ length: 4 }, () => ["neutral", undefined])
        )
        const bodies = (yield* server.requests).map(({ json }) => JSON.stringify(json))
        assert.strictEqual(bodies.length, 4)
        const thought = {
          "openai-completions": "because",
          "openai-responses": "sealed-0",
          "anthropic-messages": "sig-"
        }
        for (const body of bodies.slice(1)) assert.include(body, thought[api])
        for (const body of bodies.slice(1)) assert.notInclude(body, "never")
      }).pipe(Effect.provide(world))
    })
  )
})
