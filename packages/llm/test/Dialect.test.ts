// The dialects that name their events: what the last event means, what was counted, and what is kept from a library.
import * as Dialect from "@dsh/llm/LibraryTransport/Dialect"
import { EventRelay } from "@dsh/llm/LibraryTransport/EventRelay"
import { LlmError } from "@dsh/llm/LlmError"
import { assert, describe, it } from "@effect/vitest"

const relayed = (dialect: Dialect.Dialect, events: ReadonlyArray<object>) => {
  const relay = new EventRelay(dialect, {
    failure: (error) => new LlmError({ code: "REPORTED", message: JSON.stringify(error) }),
    malformed: () => new LlmError({ code: "MALFORMED_RESPONSE", message: "" })
  })
  for (const event of events) relay.push(JSON.stringify(event))
  return { relay, text: relay.take().join("") }
}

const last = (type: string, response: unknown) => relayed(Dialect.responses, [{ type, response }]).relay

describe("responses", () => {
  it.each([
    ["response.completed", { status: "completed" }, "stop"],
    ["response.completed", null, "stop"],
    [
      "response.completed",
      { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
      "max_output_tokens"
    ],
    ["response.incomplete", { incomplete_details: { reason: "content_filter" } }, "content_filter"],
    ["response.incomplete", {}, "length"],
    ["response.completed", { status: "failed", error: { message: "no" } }, "REPORTED"],
    ["response.failed", {}, "REPORTED"],
    ["response.completed", { status: "cancelled" }, "REPORTED"]
  ])("end with %s %o", (type, response, expected) => {
    const relay = last(type, response)
    assert.strictEqual(relay.failure?.code ?? relay.finish, expected)
    assert.strictEqual(relay.done, relay.failure === undefined)
  })

  it("count what the last event says", () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 5,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens_details: { reasoning_tokens: 3 }
    }
    assert.deepStrictEqual(last("response.completed", { usage }).reported, {
      inputTokens: 6,
      outputTokens: 5,
      cacheReadTokens: 4,
      reasoningTokens: 3
    })
    assert.isUndefined(last("response.completed", {}).reported)
  })
})

describe("messages", () => {
  const start = {
    type: "message_start",
    message: { usage: { input_tokens: 9, output_tokens: 1, cache_read_input_tokens: 2 } }
  }
  const delta = (fields: object, usage: unknown) => ({ type: "message_delta", delta: fields, usage })

  it("count the later over the earlier, and nothing twice", () => {
    const { relay } = relayed(Dialect.messages, [
      start,
      delta({ stop_reason: "end_turn" }, { output_tokens: 7, input_tokens: null, cache_creation_input_tokens: 3 }),
      { type: "message_stop" }
    ])
    const expected = { inputTokens: 9, outputTokens: 7, cacheReadTokens: 2, cacheWriteTokens: 3 }
    assert.deepStrictEqual([relay.reported, relay.finish, relay.done], [expected, "end_turn", true])
  })

  it("are not over before they say so, whatever the reason they gave", () => {
    const { relay } = relayed(Dialect.messages, [start, delta({ stop_reason: "end_turn" }, {})])
    assert.deepStrictEqual([relay.finish, relay.done], [undefined, false])
  })

  it("reach a library with what it takes for granted, and without what it would trip over", () => {
    const { relay, text } = relayed(Dialect.messages, [
      { type: "message_start" },
      { type: "content_block_start", index: 0 },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta" } },
      { type: "content_block_delta", index: 0, delta: { type: "citations_delta", citation: {} } },
      { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "s" } },
      delta({ stop_reason: "model_context_window_exceeded" }, null),
      { type: "message_stop" }
    ])
    assert.deepStrictEqual(
      text.split("\n\n").flatMap((event) => (event === "" ? [] : [JSON.parse(event.split("\ndata: ")[1]!)])),
      [
        { type: "message_start", message: { usage: {} } },
        { type: "content_block_delta", index: 0, delta: { type: "citations_delta", citation: {} } },
        { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "s" } },
        { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: {} },
        { type: "message_stop" }
      ]
    )
    assert.deepStrictEqual([relay.progress, relay.finish], [0, "model_context_window_exceeded"])
  })
})
