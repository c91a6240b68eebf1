/**
 * Rules about tokens. What they cost is worked out of the buckets, so that nothing may be in two of them.
 */
import type { TokenUsage } from "@dsh/protocol/StreamChunk"
import * as Effect from "effect/Effect"
import type { ContractCase } from "../AdapterContract.ts"
import * as Reply from "../Reply.ts"
import { ask, ending, said } from "./Ask.ts"
import { same } from "./Expect.ts"
import { cut, samplesOf } from "./Samples.ts"

const counted = { prompt_tokens: 100, completion_tokens: 10, completion_tokens_details: { reasoning_tokens: 6 } }
const hits = { prompt_cache_hit_tokens: 20, prompt_cache_miss_tokens: 80 }
const cached = { prompt_tokens_details: { cached_tokens: 20 } }
const { completion_tokens_details: _, ...plain } = counted

/** The ways to report them, of which only chat completions has more than one. */
const shapes: ReadonlyArray<readonly [name: string, usage: Reply.Usage, expected: TokenUsage]> = [
  [
    "hits and misses",
    { ...counted, ...hits },
    { inputTokens: 80, outputTokens: 10, cacheReadTokens: 20, reasoningTokens: 6 }
  ],
  [
    "cached tokens",
    { ...counted, ...cached },
    { inputTokens: 80, outputTokens: 10, cacheReadTokens: 20, reasoningTokens: 6 }
  ],
  [
    "both",
    { ...counted, ...hits, ...cached },
    { inputTokens: 80, outputTokens: 10, cacheReadTokens: 20, reasoningTokens: 6 }
  ]
]

export const counting: ReadonlyArray<ContractCase> = [
  {
    name: "the buckets of usage are disjoint, however and wherever they are reported, and counted once",
    run: (subject) =>
      Effect.gen(function* () {
        const { countsThoughts } = samplesOf(subject)
        for (const [name, usage, { reasoningTokens, ...buckets }] of shapes) {
          for (const usageOn of ["trailing", "finish", "every"] as const) {
            const { message } = yield* ask(subject, Reply.text("a", { usage, usageOn }))
            const expected = { ...buckets, ...(countsThoughts && { reasoningTokens }) }
            yield* same(`${name} on ${usageOn}`, message.usage, expected)
          }
        }
      })
  },
  {
    name: "what is not reported is not known: no usage, or one without the cache",
    // The other dialects report the cache always.
    dialects: ["chat-completions"],
    run: (subject) =>
      Effect.gen(function* () {
        const { message } = yield* ask(subject, Reply.text("a", { usage: plain }))
        yield* same("neither shape", message.usage, { inputTokens: 100, outputTokens: 10 })
        const misses = { completion_tokens: 10, ...hits }
        const summed = yield* ask(subject, Reply.text("a", { usage: misses }))
        yield* same("no prompt", summed.message.usage, { inputTokens: 80, outputTokens: 10, cacheReadTokens: 20 })
      })
  },
  {
    name: "an answer without usage is an answer, and one that was cut off has none",
    run: (subject) =>
      Effect.gen(function* () {
        const silent = yield* ask(subject, Reply.text("a", { usage: null }))
        yield* same("no usage", [ending(silent), silent.message.usage], ["stop", undefined])
        const broken = yield* ask(subject, cut(samplesOf(subject).begun("a"), "reset"))
        yield* same("cut off", [said(broken), broken.message.usage], ["a", undefined])
      })
  },
  {
    name: "what was written to the cache is a bucket of its own",
    // Nobody else reports it.
    dialects: ["messages"],
    run: (subject) =>
      Effect.gen(function* () {
        const usage = { ...plain, prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 30 } }
        const { message } = yield* ask(subject, Reply.text("a", { usage }))
        const expected = { inputTokens: 50, outputTokens: 10, cacheReadTokens: 20, cacheWriteTokens: 30 }
        yield* same("buckets", message.usage, expected)
      })
  }
]
