import { assert, describe, it } from "@effect/vitest"
import * as Prices from "../src/Prices.ts"
import type { TokenUsage } from "../src/StreamChunk.ts"

const usage: TokenUsage = { inputTokens: 80, cacheReadTokens: 20, cacheWriteTokens: 5, outputTokens: 10 }
const price = { from: 0, currency: "USD", input: 2, cacheRead: 0.5, cacheWrite: 3, output: 8 }
const table: Prices.PriceTable = new Map([
  ["p/m", [{ ...price, from: 200, input: 1 }, price]],
  ["p/late", [{ ...price, from: 200 }]],
  ["q/m", [{ ...price, currency: "CNY" }]]
])
const request = { provider: "p", model: "m", time: 100, usage }

const shown = ({ amounts, unknown }: Prices.Cost) => [Object.fromEntries(amounts), unknown]

describe("Prices", () => {
  it("each bucket has its own, for a million tokens", () => {
    const amount = (80 * 2 + 20 * 0.5 + 5 * 3 + 10 * 8) / 1e6
    assert.deepStrictEqual(shown(Prices.costOf(table, request)), [{ USD: amount }, 0])
  })

  it("those hold that held when the request was sent", () => {
    assert.strictEqual(Prices.at(table, request)?.input, 2)
    assert.strictEqual(Prices.at(table, { ...request, time: 200 })?.input, 1)
    assert.isUndefined(Prices.at(table, { ...request, model: "late" }))
  })

  it("what is not known is not free", () => {
    const costs = [
      Prices.costOf(table, request),
      Prices.costOf(table, { ...request, provider: "q" }),
      Prices.costOf(table, { ...request, usage: undefined }),
      Prices.costOf(table, { ...request, model: "late" }),
      Prices.costOf(table, { ...request, provider: undefined, model: undefined })
    ]
    const [amounts, unknown] = shown(costs.reduce(Prices.add, Prices.none))
    assert.deepStrictEqual([Object.keys(amounts as object), unknown], [["USD", "CNY"], 3])
  })
})
