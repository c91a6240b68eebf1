import * as StrictProvider from "@dsh/testing/StrictProvider"
import type { Rule } from "@dsh/testing/StrictProvider"
import { signatureOf } from "@dsh/testing/Signature"
import { assert, describe, it } from "@effect/vitest"

type Case = readonly [name: string, body: object, expected: ReadonlyArray<Rule>]

const user = { role: "user", content: "hi" }
const parameters = { type: "object", properties: { p: { type: "string" } } }

describe("the Responses API", () => {
  const request = (...input: ReadonlyArray<unknown>) => ({ model: "m", input })
  const call = (fields: object = {}) => ({
    type: "function_call",
    call_id: "c",
    name: "read",
    arguments: "{}",
    ...fields
  })
  const output = { type: "function_call_output", call_id: "c", output: "" }
  const thought = { type: "reasoning", id: "rs_1", summary: [] }
  const said = { role: "assistant", content: [{ type: "output_text", text: "well" }], id: "msg_1" }
  const tool = { type: "function", name: "read", parameters }

  it("accepts a conversation that the provider accepts", () => {
    const body = {
      ...request(
        { role: "developer", content: "be brief" },
        user,
        thought,
        said,
        call({ id: "fc_1" }),
        user,
        output,
        user
      ),
      tools: [tool],
      tool_choice: "auto",
      max_output_tokens: 16,
      reasoning: { effort: "xhigh" },
      store: true
    }
    assert.deepStrictEqual(StrictProvider.validate(body, "responses"), [])
    assert.deepStrictEqual(StrictProvider.validate({ model: "m", input: "hi" }, "responses"), [])
  })

  const cases: ReadonlyArray<Case> = [
    ["no input", { model: "m", input: [] }, ["messages-empty"]],
    ["an empty text", { model: "m", input: "" }, ["messages-empty"]],
    ["parameters of other APIs", { ...request(user), max_tokens: 1, stop: ["x"] }, ["parameter", "parameter"]],
    ["a ceiling that is too low", { ...request(user), max_output_tokens: 15 }, ["parameter"]],
    ["an unknown effort", { ...request(user), reasoning: { effort: "max" } }, ["parameter"]],
    ["an unknown item", request({ type: "thing" }), ["message-shape"]],
    ["an unknown role", request({ role: "tool", content: "x" }), ["role-unknown"]],
    ["no content", request({ role: "user", content: null }), ["content-missing"]],
    [
      "a part of another role",
      request({ role: "user", content: [{ type: "output_text", text: "x" }] }),
      ["content-shape"]
    ],
    ["an unanswered call", request(user, call()), ["tool-call-unanswered"]],
    ["an output without a call", request(user, output), ["tool-result-unknown"]],
    ["an output before its call", request(user, output, call()), ["tool-result-unknown", "tool-call-unanswered"]],
    ["two outputs of a call", request(user, call(), output, output), ["tool-result-duplicate"]],
    ["a call id used twice", request(user, call(), call(), output), ["tool-call-id-duplicate"]],
    ["a long call id", request(user, call({ call_id: "x".repeat(65) })), ["tool-call-id"]],
    ["a bad name", request(user, call({ name: "a b" }), output), ["tool-call-name"]],
    ["garbled arguments", request(user, call({ arguments: '{"a' }), output), ["tool-call-arguments"]],
    ["the id of something else", request(user, call({ id: "call_1" }), output), ["item-id"]],
    ["an item used twice", request(user, said, said), ["item-id-duplicate"]],
    ["a thought of nothing", request(user, thought, user), ["reasoning-shape"]],
    ["a thought that nobody kept", { ...request(user, thought, said), store: false }, ["reasoning-missing"]],
    ["a tool choice without tools", { ...request(user), tool_choice: "required" }, ["tool-choice"]],
    ["an open schema that is strict", { ...request(user), tools: [{ ...tool, strict: true }] }, ["tool-schema"]],
    ["two tools of one name", { ...request(user), tools: [tool, tool] }, ["tool-name-duplicate"]],
    ["half a character", request({ role: "user", content: "\ud83d" }), ["lone-surrogate"]]
  ]

  it.each(cases)("refuses %s", (_, body, expected) => {
    assert.deepStrictEqual(
      StrictProvider.validate(body, "responses").map(({ rule }) => rule),
      expected
    )
  })
})

describe("the Messages API", () => {
  const request = (...messages: ReadonlyArray<unknown>) => ({ model: "m", max_tokens: 4096, messages })
  const assistant = (...content: ReadonlyArray<object>) => ({ role: "assistant", content })
  const results = (...content: ReadonlyArray<object>) => ({ role: "user", content })
  const call = (fields: object = {}) => ({ type: "tool_use", id: "c", name: "read", input: {}, ...fields })
  const result = (fields: object = {}) => ({ type: "tool_result", tool_use_id: "c", content: "ok", ...fields })
  const text = (value: string) => ({ type: "text", text: value })
  const thought = { type: "thinking", thinking: "hm", signature: signatureOf("hm") }
  const tool = { name: "read", input_schema: parameters }
  const thinking = { type: "enabled", budget_tokens: 1024 }

  it("accepts a conversation that the provider accepts", () => {
    const body = {
      ...request(
        user,
        user,
        assistant(thought, text("well"), call(), call({ id: "d" })),
        results(result({ content: [] }), result({ tool_use_id: "d", is_error: true })),
        results(text("go on"))
      ),
      system: [text("be brief")],
      tools: [tool],
      tool_choice: { type: "auto" },
      thinking
    }
    assert.deepStrictEqual(StrictProvider.validate(body, "messages"), [])
  })

  const cases: ReadonlyArray<Case> = [
    ["no ceiling", { model: "m", messages: [user] }, ["parameter"]],
    ["a parameter of another API", { ...request(user), reasoning_effort: "high" }, ["parameter"]],
    ["a high temperature", { ...request(user), temperature: 1.5 }, ["parameter"]],
    ["a blank stop", { ...request(user), stop_sequences: [" "] }, ["parameter"]],
    ["a budget over the ceiling", { ...request(user), thinking: { ...thinking, budget_tokens: 4096 } }, ["parameter"]],
    ["a blank system prompt", { ...request(user), system: [text("")] }, ["content-blank"]],
    ["no messages", request(), ["messages-empty"]],
    ["a system message", request({ role: "system", content: "x" }), ["role-unknown"]],
    ["the first word to the assistant", request(assistant(text("a")), user), ["first-message"]],
    ["the last word to the assistant", request(user, assistant(text("a"))), ["last-message"]],
    ["blank text", request(results(text(" \n"))), ["content-blank"]],
    ["an empty message", request(user, assistant(), user), ["content-missing"]],
    ["a block of the other role", request(results(call())), ["content-shape"]],
    [
      "a bad id",
      request(user, assistant(call({ id: "a.b" })), results(result({ tool_use_id: "a.b" }))),
      ["tool-call-id"]
    ],
    ["a bad name", request(user, assistant(call({ name: "a b" })), results(result())), ["tool-call-name"]],
    [
      "input that is no object",
      request(user, assistant(call({ input: "{" })), results(result())),
      ["tool-call-arguments"]
    ],
    ["an unanswered call", request(user, assistant(call()), user), ["tool-call-unanswered"]],
    [
      "a late result",
      request(user, assistant(call()), user, assistant(text("a")), results(result())),
      ["tool-call-unanswered", "tool-result-unknown"]
    ],
    ["a result of nothing", request(results(result())), ["tool-result-unknown"]],
    ["two results", request(user, assistant(call()), results(result(), result())), ["tool-result-duplicate"]],
    ["a result after text", request(user, assistant(call()), results(text("a"), result())), ["tool-result-order"]],
    ["an id used twice", request(user, assistant(call(), call()), results(result())), ["tool-call-id-duplicate"]],
    [
      "an error that says nothing",
      request(user, assistant(call()), results(result({ content: "", is_error: true }))),
      ["content-blank"]
    ],
    [
      "a thought without its seal",
      request(user, assistant({ ...thought, signature: "" }, text("a")), user),
      ["reasoning-signature"]
    ],
    [
      "a thought that was changed",
      request(user, assistant({ ...thought, thinking: "ha" }, text("a")), user),
      ["reasoning-signature"]
    ],
    [
      "calls without the thought before them",
      { ...request(user, assistant(call()), results(result())), thinking },
      ["reasoning-missing"]
    ],
    ["a tool choice without tools", { ...request(user), tool_choice: { type: "auto" } }, ["tool-choice"]],
    ["a tool of the other form", { ...request(user), tools: [{ type: "function" }] }, ["tools"]],
    ["half a character", request({ role: "user", content: "a\ud83d" }), ["lone-surrogate"]]
  ]

  it.each(cases)("refuses %s", (_, body, expected) => {
    assert.deepStrictEqual(
      StrictProvider.validate(body, "messages").map(({ rule }) => rule),
      expected
    )
  })
})
