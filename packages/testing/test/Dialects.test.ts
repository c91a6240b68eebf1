import * as ChatRequest from "@dsh/testing/ChatRequest"
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { signatureOf } from "@dsh/testing/Signature"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Client from "./support/Client.ts"

const bodies = {
  "/responses": { model: "gpt-x", stream: true, input: [{ role: "user", content: "hi" }] },
  "/messages": { model: "claude-x", stream: true, max_tokens: 10, messages: [{ role: "user", content: "hi" }] }
}

type Path = keyof typeof bodies

const ask = (path: Path, reply: Reply.Reply, fields: object = {}) =>
  Effect.gen(function* () {
    const server = yield* MockLlm.make({ script: Script.sequence([reply]) })
    return yield* Client.call(server.url, { ...bodies[path], ...fields }, { path })
  }).pipe(Effect.scoped)

interface Named {
  readonly type: string
  readonly [key: string]: unknown
}

/** An answer of the Responses API that was not streamed. */
interface Document {
  readonly output: ReadonlyArray<Named>
  readonly status: string
  readonly usage: object
}

/** The events of a body, each of which must be named like its type. */
const events = (text: string): ReadonlyArray<Named> =>
  text
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => {
      const [name, data] = frame.split("\n")
      const value = JSON.parse(data?.slice(6) ?? "") as Named
      assert.strictEqual(name, `event: ${value.type}`)
      return value
    })

const types = (text: string) => events(text).map(({ type }) => type)

const answer = Reply.message({
  reasoning: ["so"],
  text: ["a", "b"],
  toolCalls: [{ id: "c1", name: "read", arguments: '{"p"', fragments: ['{"', 'p"'] }],
  usage: { prompt_tokens: 9, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 } }
})

describe("the Responses API", () => {
  it.live("streams items, each from its beginning to its end, with their numbers in order", () =>
    Effect.gen(function* () {
      const { text } = yield* ask("/responses", answer)
      const list = events(text)
      assert.deepStrictEqual(
        list.map(({ sequence_number }) => sequence_number),
        list.map((_, i) => i)
      )
      assert.deepStrictEqual(types(text), [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed"
      ])
      const call = {
        id: "fc_0_0",
        type: "function_call",
        status: "completed",
        arguments: '{"p"',
        call_id: "c1",
        name: "read"
      }
      assert.deepStrictEqual(list.at(-2)?.item, call)
      assert.include(JSON.stringify(list.at(-1)), '"cached_tokens":4')
    })
  )

  it.live("ends as asked: cut, filtered, broken off", () =>
    Effect.gen(function* () {
      const cut = events((yield* ask("/responses", Reply.text("a", { finish: "length" }))).text).at(-1)
      assert.include(JSON.stringify(cut), '"incomplete_details":{"reason":"max_output_tokens"}')
      const filtered = yield* ask("/responses", Reply.text("a", { finish: "content_filter" }))
      assert.include(filtered.text, '"incomplete_details":{"reason":"content_filter"}')
      assert.notInclude((yield* ask("/responses", Reply.behaviour("partial_eof"))).text, "response.completed")
      assert.deepStrictEqual(types((yield* ask("/responses", Reply.frames([{ type: "x" }]))).text), [
        "x",
        "response.completed"
      ])
    })
  )

  it.live("answers with one document when no stream was asked for, and seals thoughts for those who ask", () =>
    Effect.gen(function* () {
      const include = ["reasoning.encrypted_content"]
      const { text } = yield* ask("/responses", answer, { stream: false, include })
      const { output, status, usage } = JSON.parse(text) as Document
      assert.strictEqual(status, "completed")
      assert.deepStrictEqual(
        output.map(({ type }) => type),
        ["reasoning", "message", "function_call"]
      )
      assert.strictEqual(output[0]?.encrypted_content, "sealed-0")
      assert.deepInclude(usage, { input_tokens: 9, output_tokens: 3, total_tokens: 12 })
    })
  )
})

describe("the Messages API", () => {
  it.live("streams blocks with their thoughts sealed, and counts what came from the cache apart", () =>
    Effect.gen(function* () {
      const { headers, text } = yield* ask("/messages", answer)
      assert.strictEqual(headers["request-id"], "mock-0")
      const deltas = events(text).flatMap(({ delta }) => (delta === undefined ? [] : [delta]))
      assert.deepStrictEqual<unknown>(deltas, [
        { type: "thinking_delta", thinking: "so" },
        { type: "signature_delta", signature: signatureOf("so") },
        { type: "text_delta", text: "a" },
        { type: "text_delta", text: "b" },
        { type: "input_json_delta", partial_json: '{"' },
        { type: "input_json_delta", partial_json: 'p"' },
        { stop_reason: "tool_use", stop_sequence: null }
      ])
      const usage = { input_tokens: 3, cache_read_input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 1 }
      assert.deepInclude(events(text)[0]?.message, { usage })
      assert.deepStrictEqual(types(text).slice(-2), ["message_delta", "message_stop"])
    })
  )

  it.live("ends as asked, refuses in its own form and takes its own key", () =>
    Effect.gen(function* () {
      assert.include(
        (yield* ask("/messages", Reply.text("a", { finish: "length" }))).text,
        '"stop_reason":"max_tokens"'
      )
      const broken = yield* ask("/messages", Reply.behaviour("partial_eof"))
      assert.notInclude(broken.text, "message_delta")
      const { status, text } = yield* ask("/messages", Reply.behaviour("rate_limit"))
      assert.strictEqual(status, 429)
      const error = { type: "rate_limit_error", message: "Rate limit reached for requests" }
      assert.deepStrictEqual(JSON.parse(text), { type: "error", error })
      const server = yield* MockLlm.make({ apiKey: "k" })
      const statusFor = (key: string) =>
        Effect.map(
          Client.call(server.url, bodies["/messages"], { path: "/v1/messages", headers: { "x-api-key": key } }),
          (received) => received.status
        )
      assert.deepStrictEqual([yield* statusFor("k"), yield* statusFor("j")], [200, 401])
    }).pipe(Effect.scoped)
  )
})

describe("a request", () => {
  const at = { index: 0, headers: {}, bytes: 0 }
  const schema = { type: "object" }
  const seen = (body: object, dialect: ChatRequest.Dialect) => {
    const { messages, tools } = ChatRequest.parse(body, at, dialect)
    return {
      messages: messages.map((m) => [m.role, m.text, m.reasoning, m.toolCalls, m.toolCallId]),
      tools
    }
  }
  const calls = [{ id: "c", name: "read", arguments: '{"p":1}' }]
  const expected = {
    messages: [
      ["system", "be brief", undefined, [], undefined],
      ["user", "hi", undefined, [], undefined],
      ["assistant", "well", "hm", calls, undefined],
      ["tool", "42", undefined, [], "c"],
      ["user", "go on", undefined, [], undefined]
    ],
    tools: [{ name: "read", description: "Reads.", parameters: schema }]
  }

  it("looks the same to a script in every format", () => {
    const responses = {
      input: [
        { role: "developer", content: "be brief" },
        { role: "user", content: [{ type: "input_text", text: "hi" }] },
        { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }] },
        { role: "assistant", content: [{ type: "output_text", text: "well" }] },
        { type: "function_call", call_id: "c", name: "read", arguments: '{"p":1}' },
        { type: "function_call_output", call_id: "c", output: "42" },
        { role: "user", content: "go on" }
      ],
      tools: [{ type: "function", name: "read", description: "Reads.", parameters: schema }]
    }
    const messages = {
      system: [{ type: "text", text: "be brief" }],
      messages: [
        { role: "user", content: "hi" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "s" },
            { type: "text", text: "well" },
            { type: "tool_use", id: "c", name: "read", input: { p: 1 } }
          ]
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c", content: "42" },
            { type: "text", text: "go on" }
          ]
        }
      ],
      tools: [{ name: "read", description: "Reads.", input_schema: schema }]
    }
    assert.deepStrictEqual<unknown>(seen(responses, "responses"), expected)
    assert.deepStrictEqual<unknown>(seen(messages, "messages"), expected)
  })
})
