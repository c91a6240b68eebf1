import { assert, describe, it } from "@effect/vitest"
import * as RetryPolicy from "@dsh/llm/RetryPolicy"

const { decide, normal } = RetryPolicy
const failure = (code: string, providerRetryAfterMs?: number) => ({
  code,
  message: "no",
  ...(providerRetryAfterMs !== undefined && { providerRetryAfterMs })
})
const middle = 0.5

describe("RetryPolicy", () => {
  it("doubles the delay up to its limit, and spreads it by a tenth", () => {
    const delays = [1, 2, 3, 4, 5].map((retry) => decide(normal, retry, failure("SERVER"), middle))
    assert.deepStrictEqual(
      delays,
      [500, 1000, 2000, 4000, 8000].map((delayMs) => ({ kind: "wait", delayMs }))
    )
    assert.deepStrictEqual(decide(normal, 1, failure("SERVER"), 0), { kind: "wait", delayMs: 450 })
    assert.deepStrictEqual(decide(normal, 1, failure("SERVER"), 1), { kind: "wait", delayMs: 550 })
    const patient = { ...normal, maxRetries: 9 }
    assert.deepStrictEqual(decide(patient, 6, failure("SERVER"), 1), { kind: "wait", delayMs: 10_000 })
    assert.deepStrictEqual(decide(patient, 6, failure("SERVER"), 0), { kind: "wait", delayMs: 9000 })
  })

  it("gives up after so many, and at once on what will not pass", () => {
    assert.deepStrictEqual(decide(normal, 6, failure("SERVER"), middle).kind, "give-up")
    for (const code of ["AUTH", "QUOTA", "CONTEXT_WINDOW_EXCEEDED", "INVALID_REQUEST", "MALFORMED_RESPONSE"]) {
      assert.deepStrictEqual(decide(normal, 1, failure(code), middle), { kind: "give-up", failure: failure(code) })
    }
    for (const code of ["EMPTY_RESPONSE", "RATE_LIMIT", "SERVER", "STREAM_CLOSED", "TIMEOUT", "TRANSPORT"]) {
      assert.strictEqual(decide(normal, 1, failure(code), middle).kind, "wait")
    }
  })

  it("waits at least as long as the provider asks, and says how long when that is too long", () => {
    assert.deepStrictEqual(decide(normal, 1, failure("RATE_LIMIT", 2000), 1), { kind: "wait", delayMs: 2000 })
    assert.deepStrictEqual(decide(normal, 4, failure("RATE_LIMIT", 2000), middle), { kind: "wait", delayMs: 4000 })
    assert.deepStrictEqual(decide(normal, 1, failure("SERVER", 120_000), middle), { kind: "wait", delayMs: 120_000 })
    for (const [asked, words] of [
      [120_001, "3 min"],
      [3_600_000, "60 min"],
      [86_400_000, "24 h"]
    ] as const) {
      const decision = decide(normal, 1, failure("RATE_LIMIT", asked), middle)
      assert.strictEqual(decision.kind, "give-up")
      if (decision.kind === "give-up")
        assert.include(decision.failure.message, `no; the provider asks to wait ${words}:`)
    }
  })

  it("never gives up in mode always", () => {
    const always = { ...normal, mode: "always" } as const
    assert.deepStrictEqual(decide(always, 1000, failure("AUTH"), middle), { kind: "wait", delayMs: 10_000 })
    assert.deepStrictEqual(decide(always, 1, failure("RATE_LIMIT", 3_600_000), middle), { kind: "wait", delayMs: 500 })
  })

  it("has one key for policies that decide equally", () => {
    const { keyOf } = RetryPolicy
    assert.strictEqual(keyOf({ ...normal, retryableCodes: normal.retryableCodes.toReversed() }), keyOf(normal))
    assert.notStrictEqual(keyOf({ ...normal, maxRetries: 4 }), keyOf(normal))
    const always = { ...normal, mode: "always" } as const
    assert.strictEqual(keyOf({ ...always, maxRetries: 4 }), keyOf(always))
  })
})
