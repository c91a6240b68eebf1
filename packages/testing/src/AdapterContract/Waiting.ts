/**
 * Rules about silence, and about being interrupted. The limits are as short as the clock of a busy machine allows.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import type { ContractCase, Subject } from "../AdapterContract.ts"
import * as MockLlm from "../MockLlm.ts"
import * as Reply from "../Reply.ts"
import * as Script from "../Script.ts"
import { apiKey, ask, ending, prepare, said, timely } from "./Ask.ts"
import { holds, same } from "./Expect.ts"
import { cut, samplesOf } from "./Samples.ts"
import { frame } from "./Samples/ChatCompletions.ts"

const keepAlive = ": keep-alive\n\n"

/** Kept alive for longer than any limit, after `body`. */
const keptAlive = (body: string): Reply.Reply => {
  const comments = Array.from({ length: 1000 }, (_, i) => body.length + i * keepAlive.length)
  return Reply.sse(body + keepAlive.repeat(1000), { cuts: comments, paceMs: 20 })
}

const never = { streamIdleTimeoutMs: 60_000, contentIdleTimeoutMs: 60_000, queueTimeoutMs: 60_000 }

const streaming = (subject: Subject, reply: Reply.Reply) =>
  Effect.gen(function* () {
    const server = yield* MockLlm.make({ script: Script.sequence([reply]) })
    const adapter = yield* subject.make({ url: server.url, apiKey, timeouts: never })
    const { stream } = yield* prepare(adapter, subject.model)
    return { server, stream }
  })

export const waiting: ReadonlyArray<ContractCase> = [
  {
    name: "silence is a timeout: before the response, before its first byte, in the midst of it, and kept alive",
    run: (subject) =>
      Effect.gen(function* () {
        const begun = samplesOf(subject).begun("a")
        const idle = { ...never, streamIdleTimeoutMs: 100 }
        const silent: ReadonlyArray<readonly [string, Reply.Reply, typeof never, string]> = [
          ["no response", Reply.http(200, { delayMs: 60_000 }), idle, ""],
          ["no byte", Reply.behaviour("stall"), idle, ""],
          ["no more bytes", Reply.sse(begun, { ending: "hold" }), idle, "a"],
          ["queued", keptAlive(""), { ...never, queueTimeoutMs: 100 }, ""],
          ["no more of the answer", keptAlive(begun), { ...never, contentIdleTimeoutMs: 100 }, "a"]
        ]
        for (const [name, reply, timeouts, expected] of silent) {
          const answer = yield* ask(subject, reply, { timeouts })
          yield* same(name, [ending(answer), said(answer)], ["TIMEOUT", expected])
          yield* holds(`${name}: it may be tried again`, answer.error?.isRetryable === true)
        }
      })
  },
  {
    name: "a finished answer does not wait long for a [DONE] that never comes",
    // Elsewhere the last event is the finish.
    dialects: ["chat-completions"],
    run: (subject) =>
      Effect.gen(function* () {
        const answer = yield* ask(subject, Reply.sse(frame({ content: "a" }) + frame({}, "stop"), { ending: "hold" }))
        yield* same("answer", [said(answer), ending(answer)], ["a", "stop"])
      })
  },
  {
    name: "interruption reaches the socket: before the response, before its first byte and in the midst of it",
    run: (subject) =>
      Effect.gen(function* () {
        const begun = samplesOf(subject).begun("a")
        const replies: ReadonlyArray<readonly [Reply.Reply, "request" | "content"]> = [
          [Reply.http(200, { delayMs: 60_000 }), "request"],
          [Reply.behaviour("stall"), "request"],
          [Reply.sse(begun, { ending: "hold" }), "content"],
          [keptAlive(begun), "content"]
        ]
        for (const [reply, moment] of replies) {
          const { server, stream } = yield* streaming(subject, reply)
          const begins = yield* Deferred.make<void>()
          const fiber = yield* Effect.fork(Stream.runForEachChunk(stream, () => Deferred.succeed(begins, undefined)))
          yield* timely(moment === "content" ? Deferred.await(begins) : server.awaitRequests(1))
          yield* timely(Fiber.interrupt(fiber))
          yield* timely(server.awaitClosedEarly(1))
        }
      })
  },
  {
    name: "a consumer that has enough closes the connection",
    run: (subject) =>
      Effect.gen(function* () {
        const { begun } = samplesOf(subject)
        const { server, stream } = yield* streaming(subject, Reply.sse(begun("a", "a"), { ending: "hold" }))
        yield* timely(Stream.runDrain(Stream.take(stream, 1)))
        yield* timely(server.awaitClosedEarly(1))
      })
  },
  {
    name: "each run of the stream is a request of its own",
    run: (subject) =>
      Effect.gen(function* () {
        const server = yield* MockLlm.make({
          script: Script.sequence([cut(samplesOf(subject).begun("a")), Reply.text("b")])
        })
        const adapter = yield* subject.make({ url: server.url, apiKey, timeouts: never })
        const { stream } = yield* prepare(adapter, subject.model)
        yield* holds("nothing is sent before it runs", (yield* server.requests).length === 0)
        yield* Effect.ignore(timely(Stream.runDrain(stream)))
        yield* timely(Stream.runDrain(stream))
        yield* same("requests", (yield* server.requests).length, 2)
      })
  }
]
