/**
 * Rules about answers that are what they should be, or nearly.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ContractCase } from "../AdapterContract.ts"
import * as MockLlm from "../MockLlm.ts"
import * as Reply from "../Reply.ts"
import * as Script from "../Script.ts"
import { apiKey, ask, called, ending, prepare, said, timely } from "./Ask.ts"
import { holds, same } from "./Expect.ts"
import { cut, samplesOf, text } from "./Samples.ts"
import { done, event, frame } from "./Samples/ChatCompletions.ts"

export const answering: ReadonlyArray<ContractCase> = [
  {
    name: "reasoning, text and parallel calls are blocks in the order they came in, with their deltas before",
    run: (subject) =>
      Effect.gen(function* () {
        const answer = yield* ask(
          subject,
          Reply.message({
            reasoning: ["be", "cause"],
            text: ["s", "o"],
            toolCalls: [
              { id: "c1", name: "read", arguments: { path: "a" }, fragments: 3 },
              { id: "c2", name: "bash", arguments: { command: "ls" } }
            ]
          })
        )
        yield* same("blocks", answer.message.blocks, [
          { type: "reasoning", text: "because" },
          { type: "text", text: "so" },
          { type: "tool-call", id: "c1", name: "read", arguments: '{"path":"a"}' },
          { type: "tool-call", id: "c2", name: "bash", arguments: '{"command":"ls"}' }
        ])
        yield* same("end", ending(answer), "tool-calls")
        const streamed = { reasoning: "", text: "", calls: "" }
        for (const chunk of answer.chunks) {
          if (chunk.type === "reasoning-delta") streamed.reasoning += chunk.text
          else if (chunk.type === "text-delta") streamed.text += chunk.text
          else if (chunk.type === "tool-call-delta") streamed.calls += chunk.argumentsDelta
        }
        yield* same("deltas", streamed, { reasoning: "because", text: "so", calls: '{"path":"a"}{"command":"ls"}' })
        const last = answer.chunks.slice(-2).map(({ type }) => type)
        yield* same("last chunks", last, ["usage", "finish"])
      })
  },
  {
    name: "reasoning is read under both of its names",
    // The other dialects have one name for it.
    dialects: ["chat-completions"],
    run: (subject) =>
      Effect.gen(function* () {
        for (const field of ["reasoning_content", "reasoning"]) {
          const body = Array.from("thought", (letter) => frame({ content: null, [field]: letter })).join("")
          const answer = yield* ask(subject, cut(body + samplesOf(subject).words))
          yield* same(field, [said(answer, "reasoning"), said(answer)], ["thought", text])
        }
      })
  },
  {
    name: "the reason of the finish is one of ours, or an error with the provider's as its code",
    run: (subject) =>
      Effect.gen(function* () {
        for (const [finish, expected] of samplesOf(subject).finishes) {
          yield* same(`${finish}`, ending(yield* ask(subject, Reply.text("a", { finish }))), expected)
        }
        const calling = yield* ask(subject, Reply.toolCalls([{ name: "read", arguments: {} }], { finish: "stop" }))
        yield* same("calls that end with stop", ending(calling), "tool-calls")
        const truncated = yield* ask(subject, Reply.behaviour("max_tokens"))
        yield* same("cut", [said(truncated), ending(truncated)], ["Hello from the mock mo", "max-tokens"])
      })
  },
  {
    name: "a field that does not fit is left out, and nothing but the field",
    run: (subject) =>
      Effect.gen(function* () {
        const answer = yield* ask(subject, Reply.frames(samplesOf(subject).misfits))
        yield* same("answer", [said(answer), ending(answer), called(answer)], ["ab", "stop", []])
        yield* same("usage", answer.message.usage, { inputTokens: 3, outputTokens: 1 })
      })
  },
  {
    name: "an answer that the server did not stream is an answer",
    // Where no server has been seen to do so, a document is no answer: see the rules about failures.
    dialects: ["chat-completions"],
    run: (subject) =>
      Effect.gen(function* () {
        const message = {
          role: "assistant",
          content: "plain",
          tool_calls: [{ id: "c", type: "function", function: { name: "read", arguments: "{}" } }]
        }
        const completion = {
          choices: [{ message, finish_reason: "tool_calls" }],
          usage: { prompt_tokens: 1, completion_tokens: 1 }
        }
        for (const body of [completion, `\n\n${JSON.stringify(completion, null, 2)}\n`]) {
          const answer = yield* ask(subject, Reply.http(200, { body }))
          yield* same(
            "answer",
            [said(answer), called(answer), ending(answer)],
            ["plain", [["read", "{}"]], "tool-calls"]
          )
        }
      })
  },
  {
    name: "an answer is over at its last event, whatever keeps the connection open and whatever follows",
    run: (subject) =>
      Effect.gen(function* () {
        const { begun, error, event, words } = samplesOf(subject)
        const held = yield* ask(subject, Reply.text("a", { ending: "hold" }))
        yield* same("held open", [said(held), ending(held)], ["a", "stop"])
        const more = yield* ask(subject, cut(words + begun("x") + event(error("x"))))
        yield* same("more", [said(more), ending(more)], [text, "stop"])
      })
  },
  {
    name: "an answer with a finish and no [DONE] is whole, and its usage is what arrived of it",
    // Elsewhere the last event is the finish.
    dialects: ["chat-completions"],
    run: (subject) =>
      Effect.gen(function* () {
        const finished = frame({ content: "a" }) + frame({}, "stop")
        const usage = event({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } })
        const endings: ReadonlyArray<readonly [string, "end" | "reset", boolean]> = [
          [finished, "end", false],
          [finished, "reset", false],
          [finished + usage.slice(0, 30), "end", false],
          [finished + usage.trimEnd(), "end", true],
          [finished + usage, "end", true]
        ]
        for (const [body, how, isCounted] of endings) {
          const answer = yield* ask(subject, cut(body, how))
          const expected = isCounted ? { inputTokens: 1, outputTokens: 1 } : undefined
          yield* same(body, [said(answer), ending(answer), answer.message.usage], ["a", "stop", expected])
        }
      })
  },
  {
    name: "a response that is slow to begin is waited for while the connection is kept alive",
    run: (subject) =>
      Effect.gen(function* () {
        const slow = Reply.text("late", { keepAlives: 3, paceMs: 5 })
        const answer = yield* ask(subject, slow)
        yield* same("answer", [said(answer), ending(answer)], ["late", "stop"])
      })
  },
  {
    name: "the chunks of one network read travel as one array",
    run: (subject) =>
      Effect.gen(function* () {
        const script = Script.sequence([Reply.text(Array.from({ length: 100 }, String))])
        const { url } = yield* MockLlm.make({ script })
        const adapter = yield* subject.make({ url, apiKey, timeouts: {} })
        const { stream } = yield* prepare(adapter, subject.model)
        const arrays = yield* timely(Stream.runCollect(Stream.chunks(stream)))
        const longest = Math.max(...Array.from(arrays, Chunk.size))
        yield* holds(`the longest array has ${longest} chunks`, longest > 50)
      })
  },
  {
    name: "a consumer that reads slowly holds the provider back and loses nothing",
    run: (subject) =>
      Effect.gen(function* () {
        const deltas = Array.from({ length: subject.body === "neutral" ? 10_000 : 30_000 }, (_, i) => `${i} `)
        const { url } = yield* MockLlm.make({ script: Script.sequence([Reply.text(deltas)]) })
        const adapter = yield* subject.make({ url, apiKey, timeouts: {} })
        const { stream } = yield* prepare(adapter, subject.model)
        let seen = ""
        yield* timely(
          Stream.runForEachChunk(stream, (batch) =>
            Effect.zipRight(
              Effect.yieldNow(),
              Effect.sync(() => {
                for (const chunk of batch) if (chunk.type === "text-delta") seen += chunk.text
              })
            )
          )
        )
        yield* holds("text is missing or out of order", seen === deltas.join(""))
      })
  },
  {
    name: "an answer without a word or a call is an error, and its tokens are counted",
    run: (subject) =>
      Effect.gen(function* () {
        for (const name of ["empty", "empty_body", "malformed_event"] as const) {
          yield* same(name, ending(yield* ask(subject, Reply.behaviour(name))), "EMPTY_RESPONSE")
        }
        yield* same("no content", ending(yield* ask(subject, Reply.http(204))), "EMPTY_RESPONSE")
        if (subject.dialect === undefined || subject.dialect === "chat-completions")
          yield* same("only [DONE]", ending(yield* ask(subject, cut(done))), "EMPTY_RESPONSE")
        const thought = yield* ask(
          subject,
          Reply.message({ reasoning: "hm", usage: { prompt_tokens: 1, completion_tokens: 2 } })
        )
        const { usage } = thought.message
        yield* same(
          "only reasoning",
          [ending(thought), usage?.inputTokens, usage?.outputTokens],
          ["EMPTY_RESPONSE", 1, 2]
        )
      })
  }
]
