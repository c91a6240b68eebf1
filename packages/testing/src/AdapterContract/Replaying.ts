/**
 * Rules about what a provider wants back with its own answers, which is nobody else's business.
 */
import { CallId, MessageId } from "@dsh/protocol/Ids"
import * as Block from "@dsh/protocol/Block"
import * as Message from "@dsh/protocol/Message"
import * as Effect from "effect/Effect"
import type { ContractCase, Subject } from "../AdapterContract.ts"
import * as MockLlm from "../MockLlm.ts"
import * as Reply from "../Reply.ts"
import * as Script from "../Script.ts"
import { apiKey, collect, ending, hello, prepare } from "./Ask.ts"
import type { Answer } from "./Ask.ts"
import { holds, same } from "./Expect.ts"

const thought = Reply.message({
  reasoning: ["be", "cause"],
  text: ["s", "o"],
  toolCalls: [{ id: "c1", name: "read", arguments: { path: "a" } }]
})

/** As the loop logs it, and reads it from the log. */
const logged = ({ message }: Answer, provider: string, model: string): Message.AssistantMessage => {
  const { blocks, replayState } = message
  const source = { kind: "model" as const, provider, model, ...(replayState !== undefined && { replayState }) }
  const whole = { id: MessageId("a"), role: "assistant" as const, content: blocks, source }
  return JSON.parse(JSON.stringify(whole)) as Message.AssistantMessage
}

/** What the provider gets to see of its reasoning in the second request. */
const seenAgain = (subject: Subject, change: (answer: Message.AssistantMessage) => Message.AssistantMessage) =>
  Effect.gen(function* () {
    const server = yield* MockLlm.make({ script: Script.sequence([thought, Reply.text("done")]) })
    const adapter = yield* subject.make({ url: server.url, apiKey, timeouts: {} })
    const { model } = subject
    const first = yield* collect((yield* prepare(adapter, model)).stream)
    const answer = change(logged(first, adapter.providers[0]?.id ?? "", model))
    const result = Message.toolResult(MessageId("t"), CallId("c1"), [Block.text("ok")], false)
    const messages = [...hello, answer, result]
    const second = yield* collect((yield* prepare(adapter, model, { messages })).stream)
    yield* same("second answer", [ending(second), second.error?.message], ["stop", undefined])
    const [, again] = yield* server.requests
    const sent = again?.request?.messages.find(({ role }) => role === "assistant")
    yield* same("what was said", [sent?.text, sent?.toolCalls.map(({ id }) => id)], ["so", ["c1"]])
    return sent?.reasoning
  })

export const replaying: ReadonlyArray<ContractCase> = [
  {
    name: "reasoning goes back to the model it came from, as it came, and to no other",
    // In chat completions it is text of the conversation, with nothing to vouch for it.
    dialects: ["responses", "messages"],
    run: (subject) =>
      Effect.gen(function* () {
        yield* same("the same model", yield* seenAgain(subject, (answer) => answer), "because")
        const elsewhere = yield* seenAgain(subject, (answer) => ({
          ...answer,
          source: { ...answer.source, provider: "elsewhere" }
        }))
        yield* same("another provider", elsewhere, undefined)
        const changed = yield* seenAgain(subject, (answer) => ({
          ...answer,
          content: answer.content.map((block) => (block.type === "reasoning" ? { ...block, text: "but" } : block))
        }))
        yield* holds("it is what another has written", changed !== "because")
      })
  }
]
