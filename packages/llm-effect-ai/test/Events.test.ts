// Events that servers have been seen to send, and that the library alone would lose or trip over.
import * as Reply from "@dsh/testing/Reply"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { anthropic, ask, bodyOf, openAi, results, user, world } from "./support.ts"

const answerOf = (model: typeof anthropicModel, frames: ReadonlyArray<object>) =>
  Effect.flatMap(world(model, [Reply.frames(frames)]), ({ adapter }) => ask(adapter)).pipe(
    Effect.scoped,
    Effect.map(({ finish, message }) => [finish.kind, message.content])
  )

const anthropicModel = anthropic()
const openAiModel = openAi()

const started = { type: "message_start", message: { id: "m", usage: { input_tokens: 1 } } }
const block = (index: number, content_block: object) => ({ type: "content_block_start", index, content_block })
const delta = (index: number, fields: object) => ({ type: "content_block_delta", index, delta: fields })
const stop = (index: number) => ({ type: "content_block_stop", index })

const added = (output_index: number, item: object) => ({ type: "response.output_item.added", output_index, item })
const done = (output_index: number, item: object) => ({ type: "response.output_item.done", output_index, item })

describe("Anthropic's events", () => {
  it.live("may say all of a block at its beginning", () =>
    Effect.gen(function* () {
      const whole = yield* answerOf(anthropicModel, [
        started,
        block(0, { type: "thinking", thinking: "hm", signature: "s" }),
        stop(0),
        block(1, { type: "text", text: "so" }),
        stop(1),
        block(2, { type: "tool_use", id: "c", name: "read", input: { p: 1 } }),
        stop(2)
      ])
      assert.deepStrictEqual<unknown>(whole, [
        "tool-calls",
        [
          { type: "reasoning", text: "hm" },
          { type: "text", text: "so" },
          { type: "tool-call", id: "c", name: "read", arguments: '{"p":1}' }
        ]
      ])
    })
  )

  it.live("may speak of tools the server runs itself, which are no calls of ours", () =>
    Effect.gen(function* () {
      const searched = yield* answerOf(anthropicModel, [
        started,
        block(0, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
        delta(0, { type: "input_json_delta", partial_json: '{"q":1}' }),
        stop(0),
        block(1, { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] }),
        stop(1),
        block(2, { type: "text", text: "" }),
        delta(2, { type: "text_delta", text: "found" }),
        delta(7, { type: "text_delta", text: "nowhere" }),
        stop(2)
      ])
      assert.deepStrictEqual<unknown>(searched, ["stop", [{ type: "text", text: "found" }]])
    })
  )

  it.live("may have ids that no provider takes back, or none", () =>
    Effect.gen(function* () {
      const [, content] = yield* answerOf(anthropicModel, [
        started,
        block(0, { type: "tool_use", id: "functions.read:0", name: "read", input: {} }),
        stop(0),
        block(1, { type: "tool_use", name: "read" }),
        stop(1)
      ])
      const ids = (content as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id)
      assert.strictEqual(new Set(ids).size, 2)
      for (const id of ids) assert.match(id, /^[a-zA-Z0-9_-]+$/)
    })
  )
})

describe("OpenAI's events", () => {
  it.live("may tell of a call only when it is done, and of its arguments at once", () =>
    Effect.gen(function* () {
      const call = { type: "function_call", id: "fc_1", call_id: "c", name: "read", arguments: '{ "p": 1' }
      const expected = ["tool-calls", [{ type: "tool-call", id: "c", name: "read", arguments: '{ "p": 1' }]]
      assert.deepStrictEqual<unknown>(yield* answerOf(openAiModel, [done(0, call)]), expected)
      const announced = [added(0, { ...call, arguments: "" }), done(0, call)]
      assert.deepStrictEqual<unknown>(yield* answerOf(openAiModel, announced), expected)
    })
  )

  it.live("may refuse in words, think aloud, and end what was never begun", () =>
    Effect.gen(function* () {
      const answer = yield* answerOf(openAiModel, [
        added(0, { type: "reasoning", id: "rs_1", summary: [] }),
        { type: "response.reasoning_text.delta", output_index: 0, item_id: "rs_1", content_index: 0, delta: "hm" },
        done(0, { type: "reasoning", id: "rs_1", summary: [] }),
        done(1, { type: "reasoning", id: "rs_2", summary: [] }),
        added(2, { type: "message", id: "msg_1" }),
        { type: "response.refusal.delta", output_index: 2, item_id: "msg_1", content_index: 0, delta: "I will not." },
        done(2, { type: "message", id: "msg_1" })
      ])
      assert.deepStrictEqual<unknown>(answer, [
        "stop",
        [
          { type: "reasoning", text: "hm" },
          { type: "text", text: "I will not." }
        ]
      ])
    })
  )
})

describe("a thought", () => {
  it.live("that is hidden goes back where it was", () =>
    Effect.gen(function* () {
      const frames = [
        started,
        block(0, { type: "redacted_thinking", data: "secret" }),
        stop(0),
        block(1, { type: "tool_use", id: "c", name: "read", input: {} }),
        stop(1)
      ]
      const { adapter, server } = yield* world(anthropicModel, [Reply.frames(frames), Reply.text("done")])
      const { message } = yield* ask(adapter)
      yield* ask(adapter, { messages: [user("hi"), message, ...results(message)] })
      const [, answer] = bodyOf((yield* server.requests)[1]).messages
      assert.deepStrictEqual(answer?.content, [
        { type: "redacted_thinking", data: "secret" },
        { type: "tool_use", id: "c", name: "read", input: {} }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("between two calls goes back between them", () =>
    Effect.gen(function* () {
      const call = (id: string) => ({
        type: "function_call",
        id: `fc_${id}`,
        call_id: id,
        name: "read",
        arguments: "{}"
      })
      const thought = (id: string, text: string) => ({
        type: "reasoning",
        id,
        summary: [{ type: "summary_text", text }],
        encrypted_content: `sealed ${id}`
      })
      const thinking = (index: number, id: string, text: string) => [
        added(index, { ...thought(id, text), summary: [] }),
        {
          type: "response.reasoning_summary_text.delta",
          output_index: index,
          item_id: id,
          summary_index: 0,
          delta: text
        },
        done(index, thought(id, text))
      ]
      const frames = [
        ...thinking(0, "rs_1", "first"),
        added(1, call("a")),
        done(1, call("a")),
        ...thinking(2, "rs_2", "second"),
        added(3, call("b")),
        done(3, call("b"))
      ]
      const { adapter, server } = yield* world(openAi({ store: false }), [Reply.frames(frames), Reply.text("done")])
      const { message } = yield* ask(adapter)
      assert.deepStrictEqual<unknown>(message.content[0], { type: "reasoning", text: "firstsecond" })
      yield* ask(adapter, { messages: [user("hi"), message, ...results(message)] })
      const { input } = bodyOf((yield* server.requests)[1])
      assert.deepStrictEqual(
        input.slice(1, 5).map(({ call_id, encrypted_content, id }) => call_id ?? [id, encrypted_content]),
        [["rs_1", "sealed rs_1"], "a", ["rs_2", "sealed rs_2"], "b"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("that the provider did not keep, and did not seal, does not go back", () =>
    Effect.gen(function* () {
      const answer = Reply.message({ reasoning: "hm", text: "so" })
      const { adapter, server } = yield* world(openAi({ store: false }), [answer, Reply.text("done")])
      const { message } = yield* ask(adapter)
      yield* ask(adapter, { messages: [user("hi"), message, user("go on")] })
      const { input } = bodyOf((yield* server.requests)[1])
      const content = [{ type: "output_text", text: "so" }]
      assert.deepStrictEqual(input[1], { role: "assistant", content })
    }).pipe(Effect.scoped)
  )
})

describe("what was said", () => {
  it.live("goes back as it was: arguments as they were written, results as they are", () =>
    Effect.gen(function* () {
      const call = Reply.toolCalls([{ id: "c", name: "read", arguments: '{ "p": 1.0 }' }])
      const { adapter, server } = yield* world(openAiModel, [call, Reply.text("done")])
      const { message } = yield* ask(adapter)
      yield* ask(adapter, { messages: [user("hi"), message, ...results(message)] })
      const { input } = bodyOf((yield* server.requests)[1])
      assert.deepInclude(input[1], { call_id: "c", arguments: '{ "p": 1.0 }' })
      assert.deepInclude(input[2], { call_id: "c", output: "ok" })
    }).pipe(Effect.scoped)
  )
})
