import { AnswerWriter } from "@dsh/llm/AnswerWriter"
import { Body } from "@dsh/llm/ChatCompletions/Body"
import { Decoder } from "@dsh/llm/ChatCompletions/Decode"
import { assert, describe, it } from "@effect/vitest"

const endpoint = { name: "DeepSeek", url: "http://x", keyName: "K", urlName: "U" }
const asked = { isTaken: () => false, mint: () => "m", tools: new Set<string>(), isQuoted: () => false }
const make = () =>
  new Body({ endpoint, requestId: undefined, reader: (failures) => new Decoder(new AnswerWriter(asked), failures) })

describe("Body", () => {
  it.each([
    ["an event", "data: "],
    ["a document", "{"]
  ])("gives up on %s without end", (_, start) => {
    const body = make()
    body.push(new TextEncoder().encode(start))
    const megabyte = new Uint8Array(1024 * 1024).fill(0x78)
    for (let i = 0; i < 65 && !body.isOver; i++) body.push(megabyte)
    assert.strictEqual(body.failure?.code, "INVALID_RESPONSE")
  })

  it("hands over what was decoded once", () => {
    const body = make()
    body.push(new TextEncoder().encode(`data: {"choices":[{"delta":{"content":"a"}}]}\n\n`))
    assert.strictEqual(body.take().length, 2)
    assert.strictEqual(body.take().length, 0)
    assert.strictEqual(body.progress, 1)
  })
})
