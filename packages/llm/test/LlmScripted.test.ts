import { textOf } from "@dsh/protocol/Block"
import * as BlockAssembler from "@dsh/protocol/BlockAssembler"
import { CallId } from "@dsh/protocol/Ids"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Exit, Fiber, Layer, Stream } from "effect"
import * as Llm from "../src/Llm.ts"
import { LlmError } from "../src/LlmError.ts"
import * as LlmScripted from "../src/LlmScripted.ts"
import { Reply } from "../src/LlmScripted.ts"
import { answer, delta, request, stop } from "./support/Request.ts"

const scripted = (...replies: Parameters<typeof LlmScripted.layer>[0]) =>
  Layer.provideMerge(LlmScripted.layer(replies), Llm.layer)
const asked = (text = "hello") => request(text, LlmScripted.provider)
const ask = (text?: string) => answer(asked(text))

const assembled = (chunks: ReadonlyArray<StreamChunk>) => {
  const assembler = BlockAssembler.make()
  for (const chunk of chunks) assembler.push(chunk)
  return Either.getOrThrow(assembler.assemble())
}

/** What a reply assembles to, sent on its own. */
const said = (reply: Parameters<typeof LlmScripted.layer>[0][number]) =>
  Effect.map(Effect.provide(ask(), scripted(reply)), assembled)

describe("LlmScripted", () => {
  it.effect("says its replies one after the other, then fails: a request beyond the script is a mistake", () =>
    Effect.gen(function* () {
      const script = yield* LlmScripted.Script
      assert.strictEqual(script.remaining(), 2)
      assert.deepStrictEqual(yield* ask(), [delta("one"), stop])
      assert.deepStrictEqual(yield* ask(), [delta("two"), stop])
      assert.strictEqual(script.remaining(), 0)
      const { code, message } = yield* Effect.flip(ask())
      assert.strictEqual(code, "SCRIPT_EXHAUSTED")
      assert.strictEqual(message, "the script has no reply for request 3; add one")
      yield* script.add(Reply.text("three"))
      assert.deepStrictEqual(yield* ask(), [delta("three"), stop])
    }).pipe(Effect.provide(scripted(Reply.text("one"), Reply.text("two"))))
  )

  it.effect("writes down every request as it was when it was sent", () =>
    Effect.gen(function* () {
      const script = yield* LlmScripted.Script
      const messages = [...asked("first").messages]
      const bytes = new TextEncoder().encode("first")
      const sent = { ...asked("first"), messages, body: { bytes, sha256: "1", of: "neutral" as const } }
      yield* answer(sent)
      messages.push(...messages)
      bytes.fill(0)
      yield* ask("second")
      assert.deepStrictEqual(
        script.requests.map(({ messages: kept }) => kept.map(({ content }) => textOf(content))),
        [["first"], ["second"]]
      )
      assert.strictEqual(new TextDecoder().decode(script.requests[0]!.body.bytes), "first")
    }).pipe(Effect.provide(scripted(Reply.text("a"), Reply.text("b"))))
  )

  it.effect("takes a reply per run of the stream, not per call", () =>
    Effect.gen(function* () {
      const call = yield* (yield* Llm.Llm).prepare(asked().header.config)
      const stream = call.stream(asked())
      const script = yield* LlmScripted.Script
      assert.strictEqual(script.requests.length, 0)
      yield* Stream.runDrain(stream)
      yield* Stream.runDrain(stream)
      assert.strictEqual(script.requests.length, 2)
      assert.strictEqual(script.remaining(), 0)
    }).pipe(Effect.provide(scripted(Reply.text("a"), Reply.text("b"))))
  )

  it.effect("serves its route, in the neutral format", () =>
    Effect.gen(function* () {
      const llm = yield* Llm.Llm
      assert.deepStrictEqual(yield* llm.providers, [{ id: "scripted", name: "Scripted" }])
      assert.deepStrictEqual(
        (yield* llm.models("scripted")).map(({ id }) => id),
        [LlmScripted.model]
      )
      const call = yield* llm.prepare({ provider: "scripted", model: "anything" })
      assert.deepStrictEqual([call.wire, call.model.id], [{ format: "neutral" }, "anything"])
    }).pipe(Effect.provide(scripted()))
  )
})

describe("LlmScripted.Reply", () => {
  it.effect("text: an answer, its reasoning before it, and usage", () =>
    Effect.gen(function* () {
      const usage = { inputTokens: 1, outputTokens: 2 }
      assert.deepStrictEqual(yield* said(Reply.text("yes", { reasoning: "because", usage })), {
        blocks: [
          { type: "reasoning", text: "because" },
          { type: "text", text: "yes" }
        ],
        finish: { kind: "stop" },
        usage,
        replayState: undefined
      })
    })
  )

  it.effect("calls: with ids that differ, arguments as JSON or as the text they are", () =>
    Effect.gen(function* () {
      const reply = Reply.calls(
        [
          { name: "a", arguments: { n: 1 } },
          { name: "b", arguments: "{broken", id: "x" }
        ],
        "First"
      )
      const { blocks, finish } = yield* said(reply)
      assert.deepStrictEqual(blocks, [
        { type: "text", text: "First" },
        { type: "tool-call", id: CallId("call_0"), name: "a", arguments: '{"n":1}' },
        { type: "tool-call", id: CallId("x"), name: "b", arguments: "{broken" }
      ])
      assert.deepStrictEqual(finish, { kind: "tool-calls" })
    })
  )

  it.effect("cut: an answer that hit the ceiling", () =>
    Effect.gen(function* () {
      const { blocks, finish } = yield* said(Reply.cut("so far"))
      assert.deepStrictEqual([blocks, finish], [[{ type: "text", text: "so far" }], { kind: "max-tokens" }])
    })
  )

  const gone = new LlmError({ code: "TRANSPORT", message: "gone" })

  it.effect("fail: what came first, then the failure", () =>
    Effect.gen(function* () {
      const call = yield* (yield* Llm.Llm).prepare(asked().header.config)
      const heard: Array<StreamChunk> = []
      const reading = Stream.runForEach(call.stream(asked()), (chunk) => Effect.sync(() => heard.push(chunk)))
      assert.strictEqual((yield* Effect.flip(reading)).code, "TRANSPORT")
      assert.deepStrictEqual(heard, [delta("half")])
    }).pipe(Effect.provide(scripted(Reply.fail(gone, [delta("half")]))))
  )

  it.effect("hang: what came first, then nothing until it is cancelled", () =>
    Effect.gen(function* () {
      const heard = yield* Deferred.make<StreamChunk>()
      const call = yield* (yield* Llm.Llm).prepare(asked().header.config)
      const reading = Stream.runForEach(call.stream(asked()), (chunk) => Deferred.succeed(heard, chunk))
      const fiber = yield* Effect.fork(reading)
      assert.deepStrictEqual(yield* Deferred.await(heard), delta("wait"))
      assert.strictEqual((yield* Fiber.poll(fiber))._tag, "None")
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
    }).pipe(Effect.provide(scripted(Reply.hang([delta("wait")]))))
  )

  it.effect("from: looks at the request first", () =>
    Effect.gen(function* () {
      const reply = Reply.from(({ messages }) => Reply.text(`you said ${textOf(messages[0]!.content)}`))
      const { blocks } = yield* said(reply)
      assert.deepStrictEqual(blocks, [{ type: "text", text: "you said hello" }])
    })
  )

  it.effect("chunks: as they are", () =>
    Effect.gen(function* () {
      const chunks = [delta("a"), delta("b"), stop]
      assert.deepStrictEqual(yield* Effect.provide(ask(), scripted(Reply.chunks(chunks))), chunks)
    })
  )
})
