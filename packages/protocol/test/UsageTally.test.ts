import { assert, describe, it } from "@effect/vitest"
import type { SessionEvent, SessionEvents } from "../src/SessionEvent.ts"
import type { TokenUsage } from "../src/StreamChunk.ts"
import * as UsageTally from "../src/UsageTally.ts"
import { answered, event } from "./support.ts"

const usage: TokenUsage = { inputTokens: 80, cacheReadTokens: 20, outputTokens: 10, reasoningTokens: 6 }
const at = { turn: 1, step: 1 }

type Made = { readonly [Type in keyof SessionEvents]?: SessionEvents[Type] }

const log = (...events: ReadonlyArray<Made>): ReadonlyArray<SessionEvent> =>
  events.map((made, seq) => {
    const [[type, data] = []] = Object.entries(made)
    return event(seq, type as "turn/start", data as SessionEvents["turn/start"]) as SessionEvent
  })

const sent = (attempt = 1): Made => ({ "request/sent": { ...at, attempt, bytes: 1, sha256: "", of: "wire" } })
const streamed = (reported: TokenUsage): Made => ({
  "assistant/chunk": { ...at, chunk: { type: "usage", usage: reported } }
})
const message = (reported?: TokenUsage): Made => ({
  "assistant/message": { ...at, message: answered("m", "hi"), ...(reported !== undefined && { usage: reported }) }
})
const end: Made = { "step/end": at }

const one = { requests: 1, unreported: 0, input: 80, cacheRead: 20, cacheWrite: 0, output: 10, reasoning: 6 }

describe("UsageTally", () => {
  it("counts a request once, wherever its usage is reported", () => {
    assert.deepStrictEqual(UsageTally.of(log(sent(), streamed(usage), message(usage), end)), one)
    assert.deepStrictEqual(UsageTally.of(log(sent(), message(usage), end)), one)
    assert.deepStrictEqual(UsageTally.of(log(sent(), streamed(usage), end)), one)
    assert.deepStrictEqual(UsageTally.of(log(message(usage), end)), one)
  })

  it("counts attempts that failed, too", () => {
    const tally = UsageTally.of(log(sent(1), streamed(usage), sent(2), streamed(usage), message(usage), end))
    assert.deepStrictEqual(tally, UsageTally.add(one, one))
  })

  it("says what it does not know", () => {
    const tally = UsageTally.of(log(sent(1), sent(2), message(), end, sent(), streamed(usage)))
    assert.deepStrictEqual(tally, { ...one, requests: 3, unreported: 2 })
    assert.deepStrictEqual(UsageTally.of([]), UsageTally.none)
  })

  it("knows the share of the cache", () => {
    assert.strictEqual(UsageTally.cacheHitRatio(one), 0.2)
    assert.isUndefined(UsageTally.cacheHitRatio(UsageTally.none))
  })

  it("tells of every request once: whom it went to, when, and what was reported", () => {
    const head = (model: string): Made => ({
      "request/header": {
        header: { config: { provider: "p", model }, wire: { format: "neutral" } },
        reason: "initial"
      }
    })
    const billed: Array<UsageTally.Billed> = []
    const counter = new UsageTally.Counter((request) => billed.push(request))
    const events = log(
      head("a"),
      sent(1),
      streamed(usage),
      head("b"),
      sent(2),
      streamed(usage),
      message(usage),
      end,
      sent()
    )
    for (const one of events) counter.take(one)
    assert.lengthOf(billed, 2)
    counter.end()
    counter.end()
    assert.deepStrictEqual(
      billed.map(({ model, usage: reported }) => [model, reported]),
      [
        ["a", usage],
        ["b", usage],
        ["b", undefined]
      ]
    )
    assert.deepStrictEqual(
      billed.map(({ seq, time }) => [seq, time]),
      [1, 4, 8].map((seq) => [seq, events[seq]?.time])
    )
  })
})
