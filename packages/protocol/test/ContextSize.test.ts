import { assert, describe, it } from "@effect/vitest"
import * as ContextSize from "../src/ContextSize.ts"
import * as Conversation from "../src/Conversation.ts"
import type { SessionEvent } from "../src/SessionEvent.ts"
import type { TokenUsage } from "../src/StreamChunk.ts"
import { answered, makeLog } from "./support.ts"

const words = (n: number) => "word ".repeat(n).trim()

/** Follows a log while it is made. */
const follow = () => {
  const log = makeLog()
  const conversation = Conversation.empty()
  let taken = 0
  const size = () => {
    for (; taken < log.events.length; taken++) {
      conversation.apply(log.events[taken] as SessionEvent)
    }
    return ContextSize.measure(conversation)
  }
  const report = (text: string, usage: TokenUsage) => {
    log.add("assistant/message", { turn: 1, step: 1, message: answered(`m${log.events.length}`, text), usage })
    return size()
  }
  return { log, size, report, conversation }
}

describe("ContextSize", () => {
  it("estimates all of it where nobody has counted", () => {
    const { conversation, log, size } = follow()
    log.head({ system: words(100), tools: [{ name: "t", description: words(50), parameters: {} }] })
    log.say(words(200))
    const { reported, total, window } = size()
    assert.deepStrictEqual([reported, window], [0, undefined])
    const { messages, system, tools } = ContextSize.breakdown(conversation)
    assert.strictEqual(total, messages + system + tools)
    for (const [part, about] of [
      [system, 100],
      [tools, 60],
      [messages, 200]
    ] as const) {
      assert.isAtLeast(part, about * 0.8)
      assert.isAtMost(part, about * 1.3)
    }
  })

  it("takes what the provider counted, and adds what came after by the same measure", () => {
    const { log, report, size } = follow()
    log.head({})
    log.add("request/context", { provider: "p", model: "m", contextWindow: 10_000 })
    log.say(words(100))
    // Twice what was estimated: this provider's tokens are small.
    const counted = report(words(100), { inputTokens: 100, cacheReadTokens: 60, outputTokens: 200 })
    assert.deepInclude(counted, { total: 360, reported: 360, pressure: 0.036 })
    log.say(words(1000))
    const { reported, total } = size()
    assert.strictEqual(reported, 360)
    assert.isAtLeast(total - reported, 1400)
    assert.isAtMost(total - reported, 2000)
  })

  it("does not take a count for what is no longer what was counted", () => {
    const { log, report, size } = follow()
    log.head({})
    const said = log.say(words(1000))
    report("ok", { inputTokens: 900, outputTokens: 2 })
    log.replace(said.seq, said.seq, "short")
    const after = size()
    assert.strictEqual(after.reported, 0)
    assert.isAtMost(after.total, 50)
    log.head({ system: words(10) })
    assert.strictEqual(size().reported, 0)
  })

  it("holds what was counted over other limits of the answer, and not over another model or prompt", () => {
    const { log, report, size } = follow()
    log.head({ system: "s", config: { provider: "p", model: "m", maxTokens: 100 } })
    log.say(words(100))
    report("ok", { inputTokens: 150, outputTokens: 2 })
    log.head({ system: "s", config: { provider: "p", model: "m", maxTokens: 50 } })
    assert.strictEqual(size().reported, 152)
    log.head({ system: "s", config: { provider: "p", model: "other", maxTokens: 50 } })
    assert.strictEqual(size().reported, 0)
    log.head({ system: "t", config: { provider: "p", model: "m", maxTokens: 100 } })
    assert.strictEqual(size().reported, 0)
  })

  it("an absurd count does not make absurd estimates", () => {
    const { log, report, size } = follow()
    log.head({})
    log.say("hi")
    report("ok", { inputTokens: 1_000_000, outputTokens: 2 })
    log.say(words(100))
    assert.isAtMost(size().total, 1_000_002 + 300)
  })
})
