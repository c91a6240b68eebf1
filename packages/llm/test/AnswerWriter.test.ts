// The answer of an adapter that feeds pieces itself. What is made of the pieces is in the tests of the decoder, which feeds the same.
import { AnswerWriter, isOwnReason } from "@dsh/llm/AnswerWriter"
import type { ContentBlock } from "@dsh/protocol/Block"
import { CallId } from "@dsh/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"

const writer = (taken: ReadonlyArray<string> = []) =>
  new AnswerWriter({
    isTaken: (id) => taken.includes(id),
    mint: () => "m1",
    tools: new Set(),
    isQuoted: () => false
  })

describe("AnswerWriter", () => {
  it("puts the pieces of a library in order, with usage before the finish", () => {
    const answer = writer(["c1"])
    answer.finish("length")
    answer.reasoning("hm")
    answer.text("a")
    answer.toolCall({ index: 4, id: "c1", function: { name: "read" } })
    answer.toolCall({ index: 4, function: { arguments: "{}" } })
    answer.usage({ inputTokens: 9, outputTokens: 9 })
    answer.usage({ inputTokens: 1, outputTokens: 2 })
    answer.finish("tool_calls")
    assert.strictEqual(answer.progress, 4)
    answer.complete()
    const id = CallId("call_m1")
    assert.deepStrictEqual(answer.take(), [
      { type: "block-start", index: 0, blockType: "reasoning" },
      { type: "reasoning-delta", index: 0, text: "hm" },
      { type: "block-start", index: 1, blockType: "text" },
      { type: "text-delta", index: 1, text: "a" },
      { type: "block-start", index: 2, blockType: "tool-call" },
      { type: "tool-call-delta", index: 2, id, name: "read", argumentsDelta: "" },
      { type: "tool-call-delta", index: 2, id, argumentsDelta: "{}" },
      { type: "block-end", index: 0, block: { type: "reasoning", text: "hm" } },
      { type: "block-end", index: 1, block: { type: "text", text: "a" } },
      { type: "block-end", index: 2, block: { type: "tool-call", id, name: "read", arguments: "{}" } },
      { type: "usage", usage: { inputTokens: 1, outputTokens: 2 } },
      { type: "finish", reason: { kind: "tool-calls" } }
    ])
    assert.deepStrictEqual(answer.take(), [])
  })

  it("asks for the state to be kept when all blocks are known, and puts it on the finish", () => {
    const answer = writer()
    answer.text("a <")
    let seen: ReadonlyArray<ContentBlock> = []
    answer.complete((blocks) => {
      seen = blocks
      return { response: "kept" }
    })
    assert.deepStrictEqual(seen, [{ type: "text", text: "a <" }])
    assert.deepStrictEqual(answer.take().at(-1), {
      type: "finish",
      reason: { kind: "stop" },
      replayState: { response: "kept" }
    })
    const plain = writer()
    plain.text("a")
    plain.complete(() => undefined)
    assert.deepStrictEqual(plain.take().at(-1), { type: "finish", reason: { kind: "stop" } })
  })

  it("knows the reasons of all dialects from those that only one provider has", () => {
    const known = ["stop", "end_turn", "pause_turn", "tool_use", "length", "max_output_tokens", "MAX_TOKENS"]
    assert.deepStrictEqual(known.filter(isOwnReason), [])
    assert.deepStrictEqual(["refusal", "content_filter"].map(isOwnReason), [true, true])
  })
})
