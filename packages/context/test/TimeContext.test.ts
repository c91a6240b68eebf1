// The time is told before a step, as often as is wanted, and never in the prompt.
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import * as TimeContext from "../src/TimeContext.ts"
import { ask, call, folder, heard, make, Reply, world } from "./support.ts"

const inBerlin = (refreshIntervalMs?: number) =>
  TimeContext.layer({ timeZone: "Europe/Berlin", ...(refreshIntervalMs !== undefined && { refreshIntervalMs }) })

const told = Effect.fnUntraced(function* (refreshIntervalMs?: number) {
  const { dir, put } = yield* folder
  put("a.txt", "a")
  const script = [Reply.text("ok"), call("read", { file_path: "a.txt" }), Reply.text("ok"), Reply.text("ok")]
  return yield* Effect.gen(function* () {
    yield* TestClock.setTime(Date.UTC(2026, 2, 29, 0, 59, 30))
    const agent = yield* make(dir)
    yield* ask(agent, "one")
    yield* TestClock.adjust("90 seconds")
    yield* ask(agent, "two")
    yield* TestClock.adjust("2 hours")
    yield* ask(agent, "three")
    return heard(agent.session).flatMap(({ from, text }) => (from === "time" ? [text] : []))
  }).pipe(Effect.provide(world(script, inBerlin(refreshIntervalMs))))
})

describe("TimeContext", () => {
  it.scoped("tells it before each step, with the zone and what has passed, over a change of the clocks", () =>
    Effect.map(told(), (texts) =>
      assert.deepStrictEqual(texts, [
        "It is Sunday, 2026-03-29T01:59:30+01:00[Europe/Berlin].",
        "It is Sunday, 2026-03-29T03:01:00+02:00[Europe/Berlin]. The time before that was told 1m 30s ago.",
        "It is Sunday, 2026-03-29T03:01:00+02:00[Europe/Berlin]. The time before that was told 0 ago.",
        "It is Sunday, 2026-03-29T05:01:00+02:00[Europe/Berlin]. The time before that was told 2h ago."
      ])
    )
  )

  it.scoped("tells it again when the last telling is old enough", () =>
    Effect.map(told(3_600_000), (texts) =>
      assert.deepStrictEqual(texts, [
        "It is Sunday, 2026-03-29T01:59:30+01:00[Europe/Berlin].",
        "It is Sunday, 2026-03-29T05:01:00+02:00[Europe/Berlin]. The time before that was told 2h 1m 30s ago."
      ])
    )
  )

  for (const options of [{ timeZone: "Middle/Earth" }, { refreshIntervalMs: -1 }, { refreshIntervalMs: Number.NaN }]) {
    it.scoped(`refuses ${JSON.stringify(options)}`, () =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(Layer.build(world([], TimeContext.layer(options))))
        assert.strictEqual(failure.code, "INVALID_OPTIONS")
      })
    )
  }
})
