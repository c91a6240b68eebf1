import { assert, describe, it } from "@effect/vitest"
import { text, textOf } from "../src/Block.ts"
import { CallId, MessageId } from "../src/Ids.ts"
import * as Message from "../src/Message.ts"
import { messageIdOf, messageOf } from "../src/SessionEvent.ts"
import { answered, event, result, said } from "./support.ts"

describe("Message", () => {
  it("a prompt is text from the user", () => {
    const prompt = {
      id: MessageId("m"),
      role: "user" as const,
      content: [text("hi")],
      source: { kind: "user" as const }
    }
    assert.deepStrictEqual(Message.user(MessageId("m"), "hi"), prompt)
    assert.deepStrictEqual(Message.user(MessageId("m"), [text("hi")]), prompt)
  })

  it("a message of an extension names it", () => {
    const { source } = Message.fromPlugin(MessageId("m"), "hi", { plugin: "@dsh/x", form: "notice", summary: "s" })
    assert.deepStrictEqual(source, { kind: "plugin", plugin: "@dsh/x", form: "notice", summary: "s" })
  })

  it("a tool result is one block that names its call, marked only when it is an error", () => {
    const message = Message.toolResult(MessageId("m"), CallId("c"), [text("ok")], false)
    assert.deepStrictEqual(message.content, [{ type: "tool-result", toolCallId: CallId("c"), content: [text("ok")] }])
    assert.strictEqual(message.source.callId, message.content[0].toolCallId)
    assert.strictEqual(result("m", "c", "no", true).content[0].isError, true)
    assert.deepStrictEqual([message, said("m", "x"), answered("m", "x")].map(Message.isToolResult), [
      true,
      false,
      false
    ])
  })

  it("is found in every surface event", () => {
    const call = { turn: 1, step: 1 }
    const events = [
      event(0, "user/message", said("a", "x")),
      event(1, "assistant/message", { ...call, message: answered("b", "x") }),
      event(2, "tool/result", { ...call, message: result("c", "d", "x") })
    ]
    assert.deepStrictEqual(events.map(messageIdOf), ["a", "b", "c"].map(MessageId))
    assert.deepStrictEqual(
      events.map((each) => messageOf(each)?.id),
      ["a", "b", "c"].map(MessageId)
    )
    assert.isUndefined(messageOf(event(3, "assistant/message", { ...call, message: answered("b") })))
  })

  it("textOf joins texts and skips the rest", () => {
    assert.strictEqual(textOf([text("a"), { type: "reasoning", text: "r" }, text("b")]), "ab")
    assert.strictEqual(textOf([]), "")
  })
})
