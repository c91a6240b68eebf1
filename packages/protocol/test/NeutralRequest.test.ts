import { assert, describe, it } from "@effect/vitest"
import { MessageId } from "../src/Ids.ts"
import type { AssistantMessage } from "../src/Message.ts"
import { neutral } from "../src/NeutralRequest.ts"
import { header } from "./support.ts"

const replayState = { response: { signature: "s" } }

const from = (provider: string): AssistantMessage => ({
  id: MessageId("a"),
  role: "assistant",
  content: [{ type: "text", text: "hi" }],
  source: { kind: "model", provider, model: "m", replayState }
})

describe("the neutral request", () => {
  it("has what an adapter kept of its own answers, and not of those of others", () => {
    const writer = neutral.open(header({ system: "s" }))
    assert.strictEqual(writer.prefix, '{"provider":"p","model":"m","system":"s","messages":[')
    const content = [{ type: "text", text: "hi" }]
    assert.deepStrictEqual(writer.message(from("p")), [JSON.stringify({ role: "assistant", content, replayState })])
    assert.deepStrictEqual(writer.message(from("q")), [JSON.stringify({ role: "assistant", content })])
  })
})
