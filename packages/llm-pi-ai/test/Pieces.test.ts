// What pi-ai tells of an answer in one piece, in an odd order, or with something of its own added.
import { Pieces } from "@dsh/llm-pi-ai/LlmPiAi/Pieces"
import type { Api } from "@dsh/llm-pi-ai/LlmPiAi"
import { AnswerWriter } from "@dsh/llm/AnswerWriter"
import type { AssistantMessage, AssistantMessageEvent } from "@earendil-works/pi-ai"
import { assert, describe, it } from "@effect/vitest"

type Content = AssistantMessage["content"]

const partial = (content: Content): AssistantMessage => ({
  role: "assistant",
  content,
  api: "openai-responses",
  provider: "dsh",
  model: "m",
  usage: {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
  },
  stopReason: "stop",
  timestamp: 0
})

type Told = AssistantMessageEvent extends infer Event
  ? Event extends { readonly partial: AssistantMessage }
    ? Omit<Event, "partial">
    : never
  : never

const blocks = (api: Api, content: Content, events: ReadonlyArray<Told>) => {
  let minted = 0
  const asked = { isTaken: () => false, mint: () => `${++minted}`, tools: new Set<string>(), isQuoted: () => false }
  const writer = new AnswerWriter(asked)
  const pieces = new Pieces(writer, api)
  for (const event of events) pieces.take({ ...event, partial: partial(content) })
  writer.complete()
  const said = writer.take().flatMap((chunk) => (chunk.type === "block-end" ? [chunk.block] : []))
  return { said, lengths: pieces.streamed().map(({ length }) => length) }
}

describe("pieces", () => {
  it("are what came whole, where nothing came in pieces", () => {
    const call = { type: "toolCall", id: "c", name: "read", arguments: { q: 1 } } as const
    const content: Content = [{ type: "thinking", thinking: "hm" }, { type: "text", text: "so" }, call]
    const { lengths, said } = blocks("openai-responses", content, [
      { type: "thinking_end", contentIndex: 0, content: "hm" },
      { type: "text_end", contentIndex: 1, content: "so" },
      { type: "toolcall_start", contentIndex: 2 },
      { type: "toolcall_end", contentIndex: 2, toolCall: call }
    ])
    assert.deepStrictEqual(said as ReadonlyArray<unknown>, [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "so" },
      { type: "tool-call", id: "c", name: "read", arguments: '{"q":1}' }
    ])
    assert.deepStrictEqual(lengths, [2, 2, 7])
  })

  it("are not said again at their end", () => {
    const call = { type: "toolCall", id: "c", name: "read", arguments: { q: 1 } } as const
    const { said } = blocks(
      "anthropic-messages",
      [{ type: "text", text: "so" }, call],
      [
        { type: "text_delta", contentIndex: 0, delta: "so" },
        { type: "text_end", contentIndex: 0, content: "so" },
        { type: "toolcall_start", contentIndex: 1 },
        { type: "toolcall_delta", contentIndex: 1, delta: '{ "q": 1' },
        { type: "toolcall_end", contentIndex: 1, toolCall: call }
      ]
    )
    assert.deepStrictEqual(said as ReadonlyArray<unknown>, [
      { type: "text", text: "so" },
      { type: "tool-call", id: "c", name: "read", arguments: '{ "q": 1' }
    ])
  })

  it("of a summary are parted where another follows, and not at the end", () => {
    const deltas = ["one", "\n\n", "two", "\n\n"]
    for (const [api, expected] of [
      ["openai-responses", "one\n\ntwo"],
      ["anthropic-messages", "one\n\ntwo\n\n"]
    ] as const) {
      const { lengths, said } = blocks(
        api,
        [{ type: "thinking", thinking: "" }],
        deltas.map((delta) => ({ type: "thinking_delta", contentIndex: 0, delta }))
      )
      assert.deepStrictEqual(said, [{ type: "reasoning", text: expected }])
      assert.deepStrictEqual(lengths, [expected.length])
    }
  })

  it("of two calls stay apart, though both have one id", () => {
    const call = { type: "toolCall", id: "c|fc_1", name: "read", arguments: {} } as const
    const { said } = blocks(
      "openai-responses",
      [call, { ...call, id: "c|fc_2" }],
      [
        { type: "toolcall_start", contentIndex: 0 },
        { type: "toolcall_start", contentIndex: 1 },
        { type: "toolcall_delta", contentIndex: 0, delta: "{}" },
        { type: "toolcall_delta", contentIndex: 1, delta: "[]" }
      ]
    )
    assert.deepStrictEqual(said as ReadonlyArray<unknown>, [
      { type: "tool-call", id: "c", name: "read", arguments: "{}" },
      { type: "tool-call", id: "call_1", name: "read", arguments: "[]" }
    ])
  })
})
