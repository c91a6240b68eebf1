import * as Progress from "../src/Batch/Progress.ts"
import { Tally } from "../src/Batch/Tally.ts"
import type { BatchResult } from "@dsh/batch/BatchResult"
import { assert, describe, it } from "@effect/vitest"

const result = (id: string, more: Partial<BatchResult> = {}): BatchResult => ({
  id,
  status: "completed",
  finishReason: "completed",
  finalResponse: "",
  usage: { requests: 1, unreported: 0, input: 100, cacheRead: 0, cacheWrite: 0, output: 10, reasoning: 0 },
  cost: { amounts: { USD: 0.5 }, unknown: 0 },
  exitCode: 0,
  attempts: 1,
  durationMs: 1,
  ...more
})

const error = (code: string) => ({
  status: "failed" as const,
  finishReason: "error" as const,
  error: { code, message: `because of ${code}` }
})

describe("how far a batch is", () => {
  it("is told in one line, with a rate and what is left by what was done here", () => {
    const tally = new Tally(100)
    assert.strictEqual(Progress.line(tally, 0), "0 of 100 done, 0 running")
    for (let i = 0; i < 50; i++) tally.take(result(`before ${i}`), true)
    tally.started = 14
    for (let i = 0; i < 9; i++) tally.take(result(`t${i}`))
    tally.take(result("bad", error("SERVER")))
    assert.strictEqual(
      Progress.line(tally, 5000),
      "60 of 100 done, 1 failed, 4 running, 2.0 per second, 30.00 USD, 20.0 s left"
    )
    assert.include(Progress.line(tally, 600_000), "1.0 per minute")
  })
})

describe("what a batch came to", () => {
  it("has the numbers, the reasons, and the first failures", () => {
    const tally = new Tally(14)
    tally.take(result("old"), true)
    for (let i = 0; i < 12; i++) tally.take(result(`bad ${i}`, error(i === 0 ? "AUTH" : "SERVER")))
    tally.take(result("kept", { folder: "/w/kept" }))
    const lines = Progress.summary(tally, 28_000, { folder: "/w" })
    assert.deepStrictEqual(lines.slice(0, 5), [
      "tasks    14: 2 completed, 12 failed, 0 cancelled; 1 of them before",
      "reasons  11 SERVER, 1 AUTH",
      "used     14 requests, 1400 tokens in (0 % from the cache), 140 out, 7.00 USD",
      "time     28.0 s, 27.9 per minute",
      "folders  1 are kept under /w"
    ])
    assert.strictEqual(lines[5], "failed   bad 0: AUTH: because of AUTH")
    assert.strictEqual(lines.length, 5 + 10 + 1)
    assert.strictEqual(lines.at(-1), "         and 2 more")
  })

  it("is silent about what there was none of", () => {
    const tally = new Tally(1)
    tally.take(result("a"))
    assert.deepStrictEqual(
      Progress.summary(tally, 1000, { folder: undefined }).map((line) => line.split(" ")[0]),
      ["tasks", "used", "time"]
    )
    assert.isFalse(tally.isOutOfMoney)
    tally.take(
      result("b", { status: "cancelled", finishReason: "budget", error: { code: "BATCH_BUDGET", message: "" } })
    )
    assert.isTrue(tally.isOutOfMoney)
  })
})
