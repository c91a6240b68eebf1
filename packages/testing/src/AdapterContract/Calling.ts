/**
 * Rules about tool calls, in all the ways providers write them.
 */
import { CallId, MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import * as Effect from "effect/Effect"
import type { ContractCase, Subject } from "../AdapterContract.ts"
import * as Reply from "../Reply.ts"
import { ask, called, ending, hello } from "./Ask.ts"
import type { Answer } from "./Ask.ts"
import { holds, same } from "./Expect.ts"
import { toolCall } from "./Samples/ChatCompletions.ts"

const calls = (subject: Subject, deltas: ReadonlyArray<object>, finish = "tool_calls") =>
  ask(subject, Reply.deltas(deltas.map(toolCall), { finish }))

const ids = ({ message }: Answer): ReadonlyArray<string> =>
  message.blocks.flatMap((block) => (block.type === "tool-call" ? [block.id] : []))

const two: ReadonlyArray<readonly [string, string]> = [
  ["read", '{"q":1}'],
  ["bash", "{}"]
]

export const calling: ReadonlyArray<ContractCase> = [
  {
    name: "calls are told apart by index, by id, by both and by neither",
    // Elsewhere each call is an item of its own.
    dialects: ["chat-completions"],
    run: (subject) =>
      Effect.gen(function* () {
        const ways: Readonly<Record<string, ReadonlyArray<object>>> = {
          index: [
            { index: 0, id: "a", function: { name: "read", arguments: "" } },
            { index: 1, id: "b", function: { name: "bash", arguments: "" } },
            { index: 1, function: { arguments: "{}" } },
            { index: 0, function: { arguments: '{"q":1}' } }
          ],
          id: [
            { id: "a", function: { name: "read" } },
            { function: { arguments: '{"q"' } },
            { id: null, function: { name: null, arguments: ":1}" } },
            { id: "b", function: { name: "bash", arguments: null } },
            { id: "", function: { arguments: "{}" } }
          ],
          both: [
            { index: 0, id: "a", function: { name: "read", arguments: "{" } },
            { id: "b", function: { name: "bash", arguments: "{" } },
            { index: 1, function: { arguments: "}" } },
            { index: 0, function: { arguments: '"q":1}' } }
          ],
          neither: [
            { function: { name: "read", arguments: { q: 1 } } },
            { function: { name: "bash", arguments: "{}" } }
          ]
        }
        for (const [way, deltas] of Object.entries(ways)) {
          const answer = yield* calls(subject, deltas)
          yield* same(way, [called(answer), ending(answer)], [two, "tool-calls"])
          yield* same(`${way}: ids`, new Set(ids(answer)).size, 2)
        }
      })
  },
  {
    name: "a call without an id is given one, once; an index that never came is no call",
    // Elsewhere a call has an id, or is none.
    dialects: ["chat-completions"],
    run: (subject) =>
      Effect.gen(function* () {
        for (const id of [undefined, null, ""]) {
          const answer = yield* calls(subject, [
            { index: 7, id, function: { name: "read", arguments: "" } },
            { index: 7, id, function: { arguments: '{"q":1}' } },
            { index: 8, id, function: { name: "bash", arguments: "{}" } }
          ])
          yield* same(`id ${id}`, called(answer), two)
          const streamed = answer.chunks.flatMap((chunk) => (chunk.type === "tool-call-delta" ? [chunk.id] : []))
          yield* same("in deltas and in the end", [...new Set(streamed)], ids(answer))
          yield* holds("an empty id", !ids(answer).includes(""))
        }
      })
  },
  {
    name: "an id that the conversation already uses is not used again",
    run: (subject) =>
      Effect.gen(function* () {
        const messages: ReadonlyArray<Message.Message> = [
          ...hello,
          {
            id: MessageId("a"),
            role: "assistant",
            content: [{ type: "tool-call", id: CallId("call_0"), name: "read", arguments: "{}" }],
            source: { kind: "model", provider: "p", model: "m" }
          },
          Message.toolResult(MessageId("t"), CallId("call_0"), [], false)
        ]
        const reply = Reply.toolCalls(["call_0", "call_1"].map((id) => ({ id, name: "read", arguments: {} })))
        const [first, second] = ids(yield* ask(subject, reply, { messages }))
        yield* holds(`${first} is used twice`, first !== undefined && first !== "" && first !== "call_0")
        yield* same("the other one", second, "call_1")
      })
  },
  {
    name: "a tool that was not on offer is called all the same, under its name",
    run: (subject) =>
      Effect.gen(function* () {
        const tools = [{ name: "read", description: "Reads.", parameters: { type: "object", properties: {} } }]
        for (const name of ["bash", "functions.read", "web_search", "__proto__"]) {
          const reply = Reply.toolCalls([{ name, arguments: {} }])
          const answer = yield* ask(subject, reply, { header: { tools } })
          yield* same(name, [called(answer), ending(answer)], [[[name, "{}"]], "tool-calls"])
        }
      })
  },
  {
    name: "arguments are what the model wrote, whole or not; cut by the output limit they are no call",
    run: (subject) =>
      Effect.gen(function* () {
        const write = (args: string, finish?: string) =>
          ask(
            subject,
            Reply.toolCalls([{ name: "write", arguments: args }], { ...(finish !== undefined && { finish }) })
          )
        for (const args of ['{"content":"a', '{ "a" : 1.0 }', "[1]", "null", '{"__proto__":{"a":1}}']) {
          const answer = yield* write(args)
          yield* same(args, [called(answer), ending(answer)], [[["write", args]], "tool-calls"])
        }
        const cut = yield* write('{"content":"a', "length")
        yield* same("cut", [called(cut), ending(cut)], [[], "max-tokens"])
      })
  }
]
