import * as StrictProvider from "@dsh/testing/StrictProvider"
import type { Rule } from "@dsh/testing/StrictProvider"
import { assert, describe, it } from "@effect/vitest"
import { readTool, request } from "./support/Client.ts"

const rules = (body: unknown): ReadonlyArray<Rule> => StrictProvider.validate(body).map(({ rule }) => rule)
const messages = (...list: ReadonlyArray<unknown>) => request({ messages: list })

const user = { role: "user", content: "hi" }
const call = (id: unknown, fields: object = {}) => ({
  id,
  type: "function",
  function: { name: "read", arguments: "{}", ...fields }
})
const calls = (...list: ReadonlyArray<unknown>) => ({ role: "assistant", content: "", tool_calls: list })
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "ok" })
const lone = "\ud83d"

describe("StrictProvider", () => {
  it("accepts a conversation that a provider accepts", () => {
    const body = request({
      tools: [readTool],
      thinking: { type: "enabled" },
      reasoning_effort: "high",
      stream_options: { include_usage: true },
      max_tokens: 10,
      messages: [
        { role: "system", content: "be brief" },
        user,
        {
          role: "user",
          content: [
            { type: "text", text: "see" },
            { type: "image_url", image_url: { url: "data:," } }
          ]
        },
        { ...calls(call("a"), call("b")), reasoning_content: "" },
        result("b"),
        result("a"),
        { role: "assistant", content: "done", reasoning_content: "r" },
        { role: "user", content: "" }
      ]
    })
    assert.deepStrictEqual(StrictProvider.validate(body), [])
    assert.deepStrictEqual(StrictProvider.validateText(JSON.stringify(body)), [])
  })

  const cases: ReadonlyArray<readonly [name: string, body: unknown, expected: ReadonlyArray<Rule>]> = [
    ["a body that is no object", [], ["body-not-an-object"]],
    ["no model", request({ model: "" }), ["parameter"]],
    ["a null parameter", request({ temperature: null }), ["null-parameter"]],
    ["a bad parameter", request({ max_tokens: 0, stop: [1], thinking: {} }), ["parameter", "parameter", "parameter"]],
    ["stream_options without stream", request({ stream: false, stream_options: {} }), ["parameter"]],
    ["no messages", request({ messages: [] }), ["messages-empty"]],
    ["a message that is no object", messages("hi", user), ["message-shape"]],
    ["an unknown role", messages({ role: "developer", content: "x" }, user), ["role-unknown"]],
    ["null content", messages({ role: "user", content: null }), ["content-missing"]],
    ["missing content", messages({ role: "system" }, user), ["content-missing"]],
    ["content of another type", messages({ role: "user", content: 7 }), ["content-shape"]],
    ["no parts", messages({ role: "user", content: [] }), ["content-shape"]],
    ["a part of an unknown type", messages({ role: "user", content: [{ type: "audio" }] }), ["content-shape"]],
    [
      "an image in a tool result",
      messages(user, calls(call("a")), { ...result("a"), content: [{ type: "image_url", image_url: { url: "x" } }] }),
      ["content-shape"]
    ],
    ["a blank tool result", messages(user, calls(call("a")), { ...result("a"), content: " \n" }), ["content-blank"]],
    [
      "an assistant with null content and calls",
      messages(user, { ...calls(call("a")), content: null }, result("a")),
      ["content-missing"]
    ],
    ["an empty assistant", messages(user, { role: "assistant", content: "" }, user), ["assistant-empty"]],
    ["a bare assistant", messages(user, { role: "assistant" }, user), ["content-missing", "assistant-empty"]],
    ["empty tool_calls", messages(user, { role: "assistant", content: "x", tool_calls: [] }, user), ["tool-calls"]],
    ["a call that is no function", messages(user, calls({ id: "a" }), user), ["tool-calls"]],
    ["a call without id", messages(user, calls(call("")), user), ["tool-call-id"]],
    ["a call with a bad name", messages(user, calls(call("a", { name: "a.b" })), result("a")), ["tool-call-name"]],
    ["cut arguments", messages(user, calls(call("a", { arguments: '{"a":' })), result("a")), ["tool-call-arguments"]],
    [
      "arguments that are no object",
      messages(user, calls(call("a", { arguments: "[]" })), result("a")),
      ["tool-call-arguments"]
    ],
    [
      "an id used twice in a message",
      messages(user, calls(call("a"), call("a")), result("a")),
      ["tool-call-id-duplicate"]
    ],
    [
      "an id used twice in the conversation",
      messages(user, calls(call("a")), result("a"), calls(call("a")), user),
      ["tool-call-id-duplicate"]
    ],
    ["an unanswered call", messages(user, calls(call("a"), call("b")), result("a"), user), ["tool-call-unanswered"]],
    [
      "an unanswered call at the end",
      messages(user, calls(call("a"), call("b")), result("a")),
      ["tool-call-unanswered"]
    ],
    [
      "a late result",
      messages(user, calls(call("a")), user, result("a")),
      ["tool-call-unanswered", "tool-result-order"]
    ],
    ["an unknown result", messages(user, result("x")), ["tool-result-unknown"]],
    ["a result without id", messages(user, { role: "tool", content: "x" }), ["tool-result-unknown"]],
    ["two results for one call", messages(user, calls(call("a")), result("a"), result("a")), ["tool-result-duplicate"]],
    ["the last word to the assistant", messages(user, { role: "assistant", content: "x" }), ["last-message"]],
    [
      "a tool turn without its reasoning",
      request({ thinking: { type: "enabled" }, messages: [user, calls(call("a")), result("a")] }),
      ["reasoning-missing"]
    ],
    [
      "null reasoning",
      messages(user, { ...calls(call("a")), reasoning_content: null }, result("a")),
      ["reasoning-shape"]
    ],
    ["a lone surrogate", messages({ role: "user", content: `a${lone}` }), ["lone-surrogate"]],
    ["a lone surrogate in a key", request({ tools: [readTool], metadata: { [lone]: 1 } }), ["lone-surrogate"]],
    ["no tools", request({ tools: [] }), ["tools"]],
    ["a tool of another type", request({ tools: [{ type: "web" }] }), ["tools"]],
    ["a bad tool name", request({ tools: [tool({ name: "a b" })] }), ["tool-name"]],
    ["a long tool name", request({ tools: [tool({ name: "x".repeat(65) })] }), ["tool-name"]],
    ["two tools of one name", request({ tools: [readTool, readTool] }), ["tool-name-duplicate"]],
    ["a tool schema that is no object", request({ tools: [tool({ parameters: { type: "array" } })] }), ["tool-schema"]],
    [
      "a tool schema with null required",
      request({ tools: [tool({ parameters: { type: "object", required: null } })] }),
      ["tool-schema"]
    ]
  ]

  it.each(cases)("refuses %s", (_, body, expected) => {
    assert.deepStrictEqual(rules(body), expected)
  })

  it("says where", () => {
    const [violation] = StrictProvider.validate(messages(user, calls(call("a"), call("b")), result("a"), user))
    assert.strictEqual(violation?.path, "$.messages[1].tool_calls[1]")
  })

  it("takes text that is not JSON for one violation", () => {
    assert.deepStrictEqual(
      StrictProvider.validateText("{").map(({ rule }) => rule),
      ["body-not-json"]
    )
    assert.deepStrictEqual(
      StrictProvider.validateText(Uint8Array.of(0x22, 0xff, 0x22)).map(({ rule }) => rule),
      ["body-not-json"]
    )
  })
})

function tool(fields: object): object {
  return { ...readTool, function: { ...readTool.function, ...fields } }
}
