// The price table in the settings.
import * as Prices from "@dsh/protocol/Prices"
import * as Settings from "@dsh/settings/Settings"
import * as SettingsMemory from "@dsh/settings/SettingsMemory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as PriceSettings from "../src/PriceSettings.ts"

const given = (prices: unknown) =>
  Effect.flatMap(Settings.Settings, (settings) => settings.get(PriceSettings.section)).pipe(
    Effect.provide(SettingsMemory.layer({ prices })),
    Effect.map(Option.map(PriceSettings.table))
  )

const price = { currency: "USD", input: 2, output: 8 }

describe("prices in settings", () => {
  it.effect("hold from their day on; what is not said costs as much as input", () =>
    Effect.gen(function* () {
      const read = yield* given({
        "router/vendor/model": price,
        "p/m": [
          { ...price, from: "2026-01-01", cacheRead: 0.5, cacheWrite: 3 },
          { ...price, from: "2026-09-01", input: 1 }
        ]
      })
      const table = Option.getOrThrow(read)
      const at = (provider: string, model: string, day: string) =>
        Prices.at(table, { provider, model, time: Date.parse(day) })
      assert.deepInclude(at("router", "vendor/model", "1999-01-01"), { input: 2, cacheRead: 2, cacheWrite: 2 })
      assert.isUndefined(at("p", "m", "2025-12-31"))
      assert.deepInclude(at("p", "m", "2026-01-01"), { input: 2, cacheRead: 0.5, cacheWrite: 3 })
      assert.deepInclude(at("p", "m", "2026-10-01"), { input: 1, cacheRead: 1 })
    })
  )

  const wrong: ReadonlyArray<readonly [prices: unknown, told: RegExp]> = [
    [{ model: price }, /prices\.model .*write it as provider\/model/],
    [{ "p/m": { ...price, input: -1 } }, /prices\.p\/m\.input is no price/],
    [{ "p/m": [{ ...price, output: "8" }] }, /prices\.p\/m\[0\]\.output Expected number/],
    [{ "p/m": [{ ...price, from: "2026-02-30" }] }, /prices\.p\/m\[0\]\.from is no day; write it as 2026-01-31/],
    [{ "p/m": [{ ...price, inputs: 1 }] }, /prices\.p\/m\[0\]\.inputs is unexpected/],
    [{ "p/m": { input: 1, output: 2 } }, /prices\.p\/m\.currency is missing/]
  ]
  for (const [prices, told] of wrong) {
    it.effect(`${JSON.stringify(prices)} is refused`, () =>
      Effect.map(Effect.flip(given(prices)), ({ message }) => assert.match(message, told))
    )
  }
})
