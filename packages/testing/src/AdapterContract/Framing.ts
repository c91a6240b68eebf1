/**
 * Rules about how the bytes of a response may be framed and cut.
 */
import * as Effect from "effect/Effect"
import type { ContractCase, Subject } from "../AdapterContract.ts"
import * as Reply from "../Reply.ts"
import * as Script from "../Script.ts"
import { ask, asking, ending, said, summary } from "./Ask.ts"
import { holds, same } from "./Expect.ts"
import { cut, samplesOf, text } from "./Samples.ts"

const noise = ":\n\n: keep-alive\n\n: ping\ndata: : OPENROUTER PROCESSING\n\ndata:\n\nevent: ping\n\n"

/**
 * Distance of the cuts in one response. Each byte is cut at once, one to a response where that is cheap; a library takes its time for
 * every request.
 */
const stride = ({ body }: Subject, length: number): number => (body === "neutral" ? 64 : length)

export const framing: ReadonlyArray<ContractCase> = [
  {
    name: "a response is the same wherever it is cut",
    run: (subject) =>
      Effect.gen(function* () {
        const { whole } = samplesOf(subject)
        const clean = summary(yield* ask(subject, cut(whole)))
        const bytes = new TextEncoder().encode(whole)
        const step = stride(subject, bytes.length)
        const cuts = (first: number) =>
          Array.from({ length: Math.ceil(bytes.length / step) }, (_, i) => first + i * step)
        const script = Script.respond(({ index }) => Reply.sse(bytes, { cuts: cuts(index + 1) }))
        const { ask: again } = yield* asking(subject, script)
        for (let at = 1; at <= Math.min(step, bytes.length - 1); at++)
          yield* same(`cut at byte ${at} and every ${step} bytes`, summary(yield* again), clean)
      })
  },
  {
    name: "a response is the same with any line ends, each byte by itself, with a byte order mark and without a space after the colon",
    run: (subject) =>
      Effect.gen(function* () {
        const { whole } = samplesOf(subject)
        const clean = summary(yield* ask(subject, cut(whole)))
        for (const eol of ["\n", "\r\n", "\r"]) {
          const body = `\uFEFF${whole}`.replaceAll("\n", eol).replaceAll("data: ", eol === "\n" ? "data: " : "data:")
          const answer = yield* ask(subject, Reply.sse(body, { cuts: "every-byte" }))
          yield* same(`lines that end in ${JSON.stringify(eol)}`, summary(answer), clean)
        }
      })
  },
  {
    name: "comments, keep-alives, comments that a proxy made events of, and empty events are nothing",
    run: (subject) =>
      Effect.gen(function* () {
        const { whole } = samplesOf(subject)
        const clean = summary(yield* ask(subject, cut(whole)))
        const answer = yield* ask(subject, cut(noise + whole.split("\n\n").join(`\n\n${noise}`)))
        yield* same("answer", summary(answer), clean)
      })
  },
  {
    name: "events that end in a single line break each are read all the same",
    run: (subject) =>
      Effect.gen(function* () {
        const answer = yield* ask(subject, cut(samplesOf(subject).words.replaceAll("\n\n", "\n")))
        yield* same("answer", [said(answer), ending(answer)], [text, "stop"])
      })
  },
  {
    name: "a response that breaks off is a failure, at whichever byte, and never an answer",
    run: (subject) =>
      Effect.gen(function* () {
        const bytes = new TextEncoder().encode(samplesOf(subject).acted)
        const script = Script.respond(({ index }) => Reply.sse(bytes.subarray(0, index + 1)))
        const { ask: again } = yield* asking(subject, script)
        for (let length = 1; length <= bytes.length; length++) {
          const answer = yield* again
          yield* same(`after ${length} bytes`, ending(answer), "STREAM_CLOSED")
          yield* holds(`text after ${length} bytes`, ["", "a", "a中"].includes(said(answer)))
        }
      })
  }
]
