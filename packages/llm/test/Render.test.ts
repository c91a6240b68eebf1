import * as ChatCompletions from "@dsh/llm/ChatCompletions"
import { text } from "@dsh/protocol/Block"
import type { ContentBlock } from "@dsh/protocol/Block"
import { CallId, MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { EpochHeader } from "@dsh/protocol/Request"
import * as StrictProvider from "@dsh/testing/StrictProvider"
import { assert, describe, it } from "@effect/vitest"
import { parse, render } from "./support/DeepSeek.ts"
import type { WireMessage } from "./support/DeepSeek.ts"

const thinking: ChatCompletions.Profile = { thinking: "enabled", reasoningEffort: "high" }
const header = (profile: ChatCompletions.Profile = thinking, fields: Partial<EpochHeader> = {}): EpochHeader => ({
  config: { provider: "p", model: "m" },
  wire: ChatCompletions.profile(profile),
  ...fields
})

const user = (content: string | ReadonlyArray<ContentBlock>) => Message.user(MessageId("u"), content)
const assistant = (...content: ReadonlyArray<ContentBlock>): Message.Message => ({
  id: MessageId("a"),
  role: "assistant",
  content,
  source: { kind: "model", provider: "p", model: "m" }
})
const call = (id: string, args = "{}", name = "read"): ContentBlock => ({
  type: "tool-call",
  id: CallId(id),
  name,
  arguments: args
})
const result = (id: string, content: string | ReadonlyArray<ContentBlock>) =>
  Message.toolResult(MessageId("t"), CallId(id), typeof content === "string" ? [text(content)] : content, false)
const reasoning = (value: string): ContentBlock => ({ type: "reasoning", text: value })
const image: ContentBlock = {
  type: "image",
  attachment: { id: "img1", mediaType: "image/png", bytes: 9, width: 3, height: 2 }
}

/** The messages of the rendered request, which a strict provider has accepted. */
const messages = (
  list: ReadonlyArray<Message.Message>,
  profile?: ChatCompletions.Profile
): ReadonlyArray<WireMessage> => {
  const body = render(header(profile), [user("go"), ...list, user("on")])
  assert.deepStrictEqual(StrictProvider.validateText(body), [])
  return parse(body).messages.slice(1, -1)
}

describe("Render", () => {
  it("writes the parameters in a fixed order, messages last", () => {
    const tools = [{ name: "read", description: "Reads.", parameters: { type: "object", properties: {} } }]
    const body = render(
      header(thinking, {
        config: { provider: "p", model: "m", temperature: 0.5, maxTokens: 9, stop: ["x"] },
        system: "be brief",
        tools
      }),
      [user("hi")]
    )
    assert.strictEqual(
      body,
      '{"model":"m","stream":true,"stream_options":{"include_usage":true},"thinking":{"type":"enabled"},' +
        '"reasoning_effort":"high","tools":[{"type":"function","function":{"name":"read","description":"Reads.",' +
        '"parameters":{"type":"object","properties":{}}}}],"temperature":0.5,"max_tokens":9,"stop":["x"],' +
        '"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}]}'
    )
    assert.deepStrictEqual(StrictProvider.validateText(body), [])
  })

  it("omits what is not set", () => {
    assert.strictEqual(
      render(header({}, { config: { provider: "p", model: "m", stop: [] }, tools: [] }), [user("hi")]),
      '{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}'
    )
  })

  it("follows the logged profile, and ignores what it does not know of it", () => {
    const body = parse(
      render(
        header(undefined, {
          config: { provider: "p", model: "m", maxTokens: 5 },
          wire: {
            format: "chat-completions",
            options: { thinking: "disabled", maxTokensField: "max_completion_tokens", future: 1, reasoningEffort: 3 }
          }
        }),
        []
      )
    )
    assert.deepStrictEqual(body.thinking, { type: "disabled" })
    assert.strictEqual(body.max_completion_tokens, 5)
    assert.isFalse("reasoning_effort" in body)
  })

  it("joins the texts of a user message and sends an empty one", () => {
    assert.deepStrictEqual(messages([user([text("a"), text("b")]), user("")]), [
      { role: "user", content: "ab" },
      { role: "user", content: "" }
    ])
  })

  it("answers tool calls in order, fills a blank output, and takes results out of a mixed message first", () => {
    const mixed: Message.Message = { ...user([text("and"), ...result("c", "3").content]) }
    assert.deepStrictEqual(
      messages([
        assistant(text("x"), call("a"), call("b"), call("c")),
        result("a", " \n"),
        result("b", [text("1"), text("2")]),
        mixed
      ]).slice(1),
      [
        { role: "tool", tool_call_id: "a", content: "(no output)" },
        { role: "tool", tool_call_id: "b", content: "12" },
        { role: "tool", tool_call_id: "c", content: "3" },
        { role: "user", content: "and" }
      ]
    )
  })

  it("gives an assistant message content, reasoning and calls", () => {
    assert.deepStrictEqual(messages([assistant(reasoning("r1"), text("a"), reasoning("r2"), text("b"))]), [
      { role: "assistant", content: "ab", reasoning_content: "r1r2" }
    ])
    assert.deepStrictEqual(messages([assistant(reasoning("r"), call("c", '{"q": 1}')), result("c", "ok")])[0], {
      role: "assistant",
      content: "",
      reasoning_content: "r",
      tool_calls: [{ id: "c", type: "function", function: { name: "read", arguments: '{"q": 1}' } }]
    })
  })

  it("replays reasoning on tool turns in thinking mode even where none was recorded", () => {
    const turn = [assistant(call("c")), result("c", "ok")]
    const replayed = (profile: ChatCompletions.Profile, list = turn) => messages(list, profile)[0]?.reasoning_content
    assert.strictEqual(replayed(thinking), "")
    assert.strictEqual(replayed({}), "")
    assert.isUndefined(replayed({ thinking: "disabled" }))
    const recorded = [assistant(reasoning("r"), call("c")), result("c", "ok")]
    assert.strictEqual(replayed({ thinking: "disabled" }, recorded), "r")
    assert.isUndefined(replayed({ reasoning: "strip" }, recorded))
    assert.isUndefined(messages([assistant(text("no calls"))], thinking)[0]?.reasoning_content)
  })

  it("leaves out an assistant message that says nothing", () => {
    assert.deepStrictEqual(messages([assistant(reasoning("cut")), assistant(text("")), assistant()]), [])
  })

  it("keeps arguments verbatim when they parse, and in a form that parses when they do not", () => {
    const sent = (args: string) =>
      messages([assistant(call("c", args)), result("c", "ok")])[0]?.tool_calls?.[0]?.function.arguments
    assert.strictEqual(sent('{ "a" : 1.0 }'), '{ "a" : 1.0 }')
    assert.strictEqual(sent(""), "{}")
    assert.strictEqual(sent('{"content":"cut'), '{"unparsed_arguments":"{\\"content\\":\\"cut"}')
    assert.strictEqual(sent("[1]"), '{"unparsed_arguments":"[1]"}')
    assert.strictEqual(sent('{"a":"\ud83d'), '{"unparsed_arguments":"{\\"a\\":\\"\ufffd"}')
  })

  it("renames a call that no tool can have", () => {
    const sent = (name: string) =>
      messages([assistant(call("c", "{}", name)), result("c", "ok")])[0]?.tool_calls?.[0]?.function.name
    assert.strictEqual(sent("functions.read file"), "functions_read_file")
    assert.strictEqual(sent(""), "unnamed")
    assert.strictEqual(sent("x".repeat(80)), "x".repeat(64))
  })

  it("replaces half a surrogate pair wherever it stands", () => {
    const lone = "\ud83d"
    const list = [user(lone), assistant(reasoning(lone), text(`🐋${lone}`), call("c")), result("c", lone)]
    assert.strictEqual(messages(list)[1]?.content, "🐋\ufffd")
    const tools = [
      { name: "read", description: lone, parameters: { type: "object", properties: { a: { title: lone } } } }
    ]
    assert.deepStrictEqual(
      StrictProvider.validateText(render(header(thinking, { system: lone, tools }), list.slice(0, 1))),
      []
    )
  })

  it("says in words where an image was", () => {
    const words = "[image img1: image/png, 3x2; not shown]"
    assert.strictEqual(messages([user([text("see "), image])])[0]?.content, `see ${words}`)
    assert.strictEqual(messages([assistant(call("c")), result("c", [image])])[1]?.content, words)
  })

  describe("images", () => {
    const shown = (digit: string): ContentBlock => ({
      type: "image",
      attachment: { id: `sha256:${digit.repeat(64)}`, mediaType: "image/png", bytes: 9, width: 3, height: 2 }
    })
    const part = (digit: string) => ({
      type: "image_url",
      image_url: { url: `attachment:image/png;sha256:${digit.repeat(64)}` }
    })
    const seeing: ChatCompletions.Profile = { images: "send" }

    it("are named by their hash for a model that takes them, and described in words for any other", () => {
      const message = user([text("look: "), shown("a"), image, text("!")])
      assert.deepStrictEqual<unknown>(messages([message], seeing)[0]?.content, [
        { type: "text", text: "look: " },
        part("a"),
        // What no store of ours made.
        { type: "text", text: "[image img1: image/png, 3x2; not shown]" },
        { type: "text", text: "!" }
      ])
      const [blind] = messages([message])
      assert.match(String(blind?.content), /^look: \[image sha256:a+: image\/png, 3x2; not shown\]\[image img1/)
      assert.strictEqual(messages([user("plain")], seeing)[0]?.content, "plain")
    })

    it("of tool results follow all results of an answer, whatever comes next", () => {
      const calls = assistant(call("c1"), call("c2"))
      const results = [result("c1", [text("one"), shown("a")]), result("c2", [shown("b")])]
      const own = {
        role: "user",
        content: [
          { type: "text", text: "[image 1 of the results]" },
          part("a"),
          { type: "text", text: "[image 2 of the results]" },
          part("b")
        ]
      }
      const wire = messages([calls, ...results, assistant(text("seen"))], seeing)
      assert.deepStrictEqual<unknown>(
        wire.slice(1, 3).map(({ content }) => content),
        ["one[image 1: image/png, 3x2; shown after the results]", "[image 2: image/png, 3x2; shown after the results]"]
      )
      assert.deepStrictEqual<unknown>(wire.slice(3), [own, { role: "assistant", content: "seen" }])
      assert.deepStrictEqual<unknown>(messages([calls, ...results, user("well?")], seeing)[3], own)
      // At the end of a request, too, and in the same place: what was sent is the beginning of what is sent next.
      const first = render(header(seeing), [user("go"), calls, ...results])
      const next = render(header(seeing), [user("go"), calls, ...results, assistant(text("seen"))])
      assert.deepStrictEqual<unknown>(StrictProvider.validateText(first), [])
      assert.deepStrictEqual<unknown>(parse(first).messages.at(-1), own)
      assert.isTrue(next.startsWith(first.slice(0, -2)))
    })
  })
})
