/**
 * Rules about what is sent. The server is strict: it refuses what any provider would.
 */
import * as Block from "@dsh/protocol/Block"
import type { ContentBlock } from "@dsh/protocol/Block"
import { CallId, MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { EpochHeader } from "@dsh/protocol/Request"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { ContractCase, Subject } from "../AdapterContract.ts"
import type { ChatRequest } from "../ChatRequest.ts"
import * as MockLlm from "../MockLlm.ts"
import { apiKey, ask, collect, ending, hello, prepare, render } from "./Ask.ts"
import type { Question } from "./Ask.ts"
import * as Reply from "../Reply.ts"
import { holds, same } from "./Expect.ts"

const assistant = (...content: ReadonlyArray<ContentBlock>): Message.Message => ({
  id: MessageId("a"),
  role: "assistant",
  content,
  source: { kind: "model", provider: "elsewhere", model: "other" }
})
const call = (id: string, args = "{}", name = "read"): ContentBlock => ({
  type: "tool-call",
  id: CallId(id),
  name,
  arguments: args
})
const result = (id: string, text: string) => Message.toolResult(MessageId("t"), CallId(id), [Block.text(text)], false)
const reasoning = (text: string): ContentBlock => ({ type: "reasoning", text })
const on = Message.user(MessageId("u"), "go on")

/** What interruptions, other models and models gone wrong leave in a session. */
const histories: Readonly<Record<string, ReadonlyArray<Message.Message>>> = {
  "a call with reasoning": [assistant(reasoning("r"), call("c")), result("c", "ok"), on],
  "a call without reasoning": [assistant(call("c")), result("c", "ok"), on],
  "only reasoning": [assistant(reasoning("cut short")), on],
  "nothing at all": [assistant(), assistant(Block.text("")), on],
  "arguments that stop half way": [assistant(call("c", '{"content":"a')), result("c", "no"), on],
  "arguments that are no object": [assistant(call("c", "[1]"), call("d", "")), result("c", "no"), result("d", ""), on],
  "a name no tool can have": [assistant(call("c", "{}", "functions.read file")), result("c", "no"), on],
  "a tool that said nothing": [assistant(call("c")), result("c", " \n"), on],
  "ids of another provider": [
    assistant(call("functions.read:0"), call("x".repeat(80))),
    result("functions.read:0", "a"),
    result("x".repeat(80), "b"),
    on
  ],
  "a user who says nothing": [
    Message.user(MessageId("u"), " "),
    assistant(Block.text(" \n"), call("c")),
    result("c", "ok")
  ],
  "a tool that failed without a word": [
    assistant(call("c")),
    Message.toolResult(MessageId("t"), CallId("c"), [], true),
    on
  ],
  "half a character": [assistant(Block.text("a\ud83d"), call("c")), result("c", "\udc0b"), on]
}

const tools = [{ name: "read", description: "Reads.", parameters: { type: "object", properties: {} } }]

/** Of which some only look like something that a library may set right. */
const offered: NonNullable<EpochHeader["tools"]> = [
  {
    name: "read",
    description: "Reads.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Where.", pattern: "^/", minLength: 1 },
        n: { anyOf: [{ type: "integer", minimum: 0 }, { $ref: "#/$defs/range" }], default: 1 }
      },
      required: ["path"],
      $defs: { range: { type: "array", items: { type: "integer" }, maxItems: 2 } },
      additionalProperties: true,
      examples: [{ path: "/a" }]
    }
  },
  { name: "write_all", description: "", parameters: { type: "object" } }
]

const spoken: ReadonlyArray<Message.Message> = [
  ...hello,
  Message.user(MessageId("m2"), "well?"),
  assistant(
    reasoning("hm"),
    Block.text("so be it"),
    call("c1", '{ "path": "a\\nb", "n": 1.5 }'),
    call("c2", "", "write_all")
  ),
  result("c1", 'line 1\n"line" 2\ttab'),
  Message.toolResult(MessageId("t2"), CallId("c2"), [Block.text("no such file")], true),
  on,
  assistant(Block.text("done")),
  Message.user(MessageId("m3"), "thanks")
]

/** What a model is told, apart from how: texts of one role that follow each other are one. */
const told = (request: ChatRequest | undefined): ReadonlyArray<object> => {
  const all: Array<Record<string, unknown>> = []
  for (const { role, text, toolCallId, toolCalls } of request?.messages ?? []) {
    const before = all.at(-1)
    if (toolCallId !== undefined) all.push({ result: toolCallId, text })
    else if (before !== undefined && role in before) before[role] = `${String(before[role])}${text}`
    else if (text !== "") all.push({ [role]: text })
    for (const { arguments: args, id, name } of toolCalls) all.push({ call: id, [name]: JSON.parse(args) as unknown })
  }
  return all
}

/** Asks a server that wants the key, inside a span of the caller. */
const sending = (subject: Subject, question: Question) =>
  Effect.gen(function* () {
    const server = yield* MockLlm.make({ apiKey: Redacted.value(apiKey) })
    const adapter = yield* subject.make({ url: server.url, apiKey, timeouts: {} })
    const { request, stream } = yield* prepare(adapter, subject.model, question)
    const answer = yield* Effect.withSpan(collect(stream), "caller")
    yield* same("end", [ending(answer), answer.error?.message], ["stop", undefined])
    const [sent] = yield* server.requests
    return { request, sent }
  })

const discreet = (sent: MockLlm.Recorded | undefined) =>
  Effect.gen(function* () {
    const names = Object.keys(sent?.headers ?? {})
    yield* holds(`a header that traces: ${names.join(", ")}`, !names.some((name) => /b3|trace/.test(name)))
    yield* same("accept", sent?.headers.accept, "text/event-stream")
    yield* holds("it does not say who is asking", /^\S+\/\S+/.test(sent?.headers["user-agent"] ?? ""))
  })

export const requesting: ReadonlyArray<ContractCase> = [
  {
    name: "whatever is in the history, a strict provider accepts it",
    run: (subject) =>
      Effect.gen(function* () {
        for (const [name, history] of Object.entries(histories)) {
          const question = { messages: [...hello, ...history], header: { system: "Be brief.", tools } }
          const answer = yield* ask(subject, Reply.text("ok"), question)
          yield* same(name, [ending(answer), answer.error?.message], ["stop", undefined])
        }
      })
  },
  {
    name: "the bytes that are sent are those that were rendered, with the key, and nothing that traces",
    body: "wire",
    run: (subject) =>
      Effect.gen(function* () {
        const { request, sent } = yield* sending(subject, { header: { system: "Be brief." } })
        yield* same("body", [...(sent?.body ?? [])], [...request.body.bytes])
        yield* discreet(sent)
      })
  },
  {
    name: "all that the request says is sent, in order and under its names, with the key, and nothing that traces",
    body: "neutral",
    run: (subject) =>
      Effect.gen(function* () {
        const { sent } = yield* sending(subject, { header: { system: "Be brief.", tools: offered }, messages: spoken })
        yield* same("conversation", told(sent?.request), [
          { system: "Be brief." },
          { user: "hiwell?" },
          { assistant: "so be it" },
          { call: "c1", read: { path: "a\nb", n: 1.5 } },
          { call: "c2", write_all: {} },
          { result: "c1", text: 'line 1\n"line" 2\ttab' },
          { result: "c2", text: "no such file" },
          { user: "go on" },
          { assistant: "done" },
          { user: "thanks" }
        ])
        yield* same("tools", sent?.request?.tools, offered)
        yield* discreet(sent)
      })
  },
  {
    name: "a request can be rendered again from what is logged of it",
    run: (subject) =>
      Effect.gen(function* () {
        const adapter = yield* subject.make({ url: "http://127.0.0.1:9", apiKey, timeouts: {} })
        const messages = [...hello, ...Object.values(histories).flat()]
        const { request } = yield* prepare(adapter, subject.model, { header: { system: "s", tools }, messages })
        const logged = JSON.parse(JSON.stringify(request.header)) as EpochHeader
        const again = render(adapter, logged, JSON.parse(JSON.stringify(messages)) as typeof messages)
        yield* same("body", new TextDecoder().decode(again), new TextDecoder().decode(request.body.bytes))
        yield* holds("it is empty", again.length > 0)
      })
  },
  {
    name: "a model that no catalog knows is passed on",
    run: (subject) =>
      Effect.gen(function* () {
        const server = yield* MockLlm.make()
        const adapter = yield* subject.make({ url: server.url, apiKey, timeouts: {} })
        yield* collect((yield* prepare(adapter, "brand-new/model:1")).stream)
        yield* same("model", (yield* server.requests)[0]?.request?.model, "brand-new/model:1")
      })
  }
]
