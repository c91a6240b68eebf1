// What comes back to the provider of its own answers, and what does not.
import type { Api } from "@dsh/llm-pi-ai/LlmPiAi"
import * as Replay from "@dsh/llm-pi-ai/LlmPiAi/Replay"
import { CallId } from "@dsh/protocol/Ids"
import type { ContentBlock } from "@dsh/protocol/Block"
import type { AssistantMessage } from "@dsh/protocol/Message"
import * as Reply from "@dsh/testing/Reply"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { apis, ask, results, tools, user, world } from "./support.ts"

const efforts = ["low", "high"] as const

const answer = Reply.message({
  reasoning: ["be", "cause"],
  text: ["s", "o"],
  toolCalls: [{ id: "c1", name: "read", arguments: '{ "path": "a", "n": 1.0 }' }]
})

/** An answer, and the request that follows it, as the server sees both. */
const twice = (api: Api, then: (first: AssistantMessage) => AssistantMessage = (first) => first, model = "m") =>
  Effect.scoped(
    Effect.gen(function* () {
      const { adapter, server } = yield* world(api, [answer, Reply.text("done")], {
        efforts,
        reasoningEffort: "low",
        maxTokens: 20_000
      })
      const { message } = yield* ask(adapter, { header: { tools } })
      // Through the log and back.
      const logged = then(JSON.parse(JSON.stringify(message)) as AssistantMessage)
      const messages = [user("hi"), logged, ...results(message), user("go on")]
      const { finish } = yield* ask(adapter, { messages, header: { tools }, config: { model } })
      assert.deepStrictEqual(finish, { kind: "stop" })
      const [, second] = yield* server.requests
      return { message, body: second?.json as Readonly<Record<string, ReadonlyArray<Record<string, unknown>>>> }
    })
  )

const turn = (body: Readonly<Record<string, ReadonlyArray<Record<string, unknown>>>>) =>
  body.messages?.find(({ role }) => role === "assistant")?.content

describe("the same model gets its thoughts back", () => {
  it.live("in chat completions under the name they came with, and arguments as they were written", () =>
    Effect.gen(function* () {
      const { body } = yield* twice("openai-completions")
      const sent = body.messages?.find(({ role }) => role === "assistant")
      assert.strictEqual(sent?.reasoning_content, "because")
      assert.strictEqual(sent?.content, "so")
      assert.include(JSON.stringify(sent?.tool_calls), JSON.stringify('{ "path": "a", "n": 1.0 }'))
    })
  )

  it.live("in responses as the items they were, encrypted", () =>
    Effect.gen(function* () {
      const { body } = yield* twice("openai-responses")
      const [, thought, said, call, result] = body.input ?? []
      assert.deepInclude(thought, { type: "reasoning", encrypted_content: "sealed-0" })
      assert.deepInclude(said, { type: "message", id: "msg_0" })
      assert.deepInclude(call, { call_id: "c1", arguments: '{ "path": "a", "n": 1.0 }' })
      assert.isString(call?.id)
      assert.deepInclude(result, { type: "function_call_output", call_id: "c1" })
    })
  )

  it.live("in messages with their signature", () =>
    Effect.gen(function* () {
      const { body } = yield* twice("anthropic-messages")
      const [thought, said, call] = turn(body) as ReadonlyArray<Record<string, unknown>>
      assert.deepInclude(thought, { type: "thinking", thinking: "because" })
      assert.match(String(thought?.signature), /^sig-/)
      assert.deepInclude(said, { type: "text", text: "so" })
      assert.include(JSON.stringify(body.thinking), "enabled")
      assert.deepInclude(call, { id: "c1", input: { path: "a", n: 1 } })
    })
  )
})

describe("nobody else does", () => {
  it.live("another model, another provider, or one whose message was changed", () =>
    Effect.gen(function* () {
      const elsewhere = (message: AssistantMessage): AssistantMessage => ({
        ...message,
        source: { ...message.source, provider: "elsewhere" }
      })
      const changed = (message: AssistantMessage): AssistantMessage => ({
        ...message,
        content: message.content.map((block) => (block.type === "text" ? { ...block, text: "so so" } : block))
      })
      for (const api of apis) {
        for (const { body } of [
          yield* twice(api, undefined, "another"),
          yield* twice(api, elsewhere),
          yield* twice(api, changed)
        ]) {
          // In the middle of calls nobody can vouch for, Anthropic would refuse to think.
          if (api === "anthropic-messages") assert.deepEqual(body.thinking as unknown, { type: "disabled" })
          const text = JSON.stringify(body.messages ?? body.input)
          assert.notInclude(text, "because", api)
          assert.notMatch(text, /sealed|sig-|"id":"(fc|f)_/, api)
          assert.include(text, "so", api)
          assert.include(text, "c1", api)
        }
      }
    })
  )
})

describe("state", () => {
  const call = (id: string): ContentBlock => ({ type: "tool-call", id: CallId(id), name: "read", arguments: "{}" })
  const thinking = (thinking: string, thinkingSignature: string, redacted?: true) => ({
    native: { type: "thinking", thinking, thinkingSignature, ...(redacted && { redacted }) } as const,
    length: thinking.length
  })
  const text = (value: string) => ({ native: { type: "text", text: value } as const, length: value.length })
  const toolCall = (id: string) => ({
    native: { type: "toolCall", id, name: "read", arguments: {} } as const,
    length: 2
  })
  const blocks: ReadonlyArray<ContentBlock> = [
    { type: "reasoning", text: "onetwo" },
    { type: "text", text: "ab" },
    call("c1"),
    call("c2")
  ]
  const streamed = [
    thinking("one", "s1"),
    text("a"),
    toolCall("c1"),
    thinking("", "hidden", true),
    thinking("two", "s2"),
    toolCall("c2"),
    text("b")
  ]

  it("keeps the order in which parts came, though the message has one block for each kind", () => {
    const state = Replay.write("anthropic-messages", streamed, blocks)
    const parts = Replay.read("anthropic-messages", state, blocks)
    assert.deepStrictEqual(
      parts?.map((part) => [part.type, part.type === "call" ? part.block.id : part.text, part.signature]),
      [
        ["reasoning", "one", "s1"],
        ["text", "a", undefined],
        ["call", "c1", undefined],
        ["reasoning", "", "hidden"],
        ["reasoning", "two", "s2"],
        ["call", "c2", undefined],
        ["text", "b", undefined]
      ]
    )
    assert.notInclude(JSON.stringify(state), "onetwo")
  })

  it("is not used for a message it does not fit", () => {
    const state = Replay.write("anthropic-messages", streamed, blocks)
    for (const other of [blocks.slice(1), blocks.slice(0, 3), [...blocks, call("c3")], []]) {
      assert.isUndefined(Replay.read("anthropic-messages", state, other))
    }
    assert.isUndefined(Replay.read("openai-responses", state, blocks))
    for (const response of [null, "x", { api: "anthropic-messages" }, { api: "anthropic-messages", parts: [7] }]) {
      assert.isUndefined(Replay.read("anthropic-messages", { response }, blocks))
    }
    const negative = { api: "anthropic-messages", parts: [{ type: "text", length: -1 }] }
    assert.isUndefined(Replay.read("anthropic-messages", { response: negative }, [{ type: "text", text: "a" }]))
  })

  it("is not kept when there is nothing in it, or a thought in it cannot be sent back", () => {
    assert.isUndefined(Replay.write("openai-completions", [text("ab")], [{ type: "text", text: "ab" }]))
    const thought: ReadonlyArray<ContentBlock> = [{ type: "reasoning", text: "one" }, call("c1")]
    const [open, sealed] = ["{}", '{"encrypted_content":"x"}'].map((item) =>
      Replay.write("openai-responses", [thinking("one", item), toolCall("c1|fc_1")], thought)
    )
    assert.isUndefined(open)
    assert.isDefined(sealed)
    assert.isUndefined(Replay.write("anthropic-messages", [thinking("one", ""), toolCall("c1")], thought))
  })
})
