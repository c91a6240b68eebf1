import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Processes from "../src/Processes.ts"
import * as Row from "../src/Row.ts"
import * as Samples from "../src/Samples.ts"
import * as SseServer from "../src/SseServer.ts"
import * as Table from "../src/Table.ts"

const row = (what: string, target = ""): Row.Row => ({ what, target, measure: Effect.never })

describe("Table", () => {
  it("aligns its columns and says which targets were missed", () => {
    const floor = Samples.of([4, 2, 3])
    const text = Table.render([
      [row("a floor"), { floor: Samples.format(floor, "ms"), measured: "" }],
      [row("fast", "≤ 2 × floor"), Row.compare(floor, Samples.of([4, 8]), "ms", 2)],
      [row("slow", "≤ 2 × floor"), Row.compare(floor, Samples.of([5]), "ms", 2)]
    ])
    assert.strictEqual(
      text,
      `| what    | target      | floor               | measured            | ratio |        |
|---------|-------------|---------------------|---------------------|-------|--------|
| a floor |             | 2.0 ms (median 3.0) |                     |       |        |
| fast    | ≤ 2 × floor | 2.0 ms (median 3.0) | 4.0 ms (median 8.0) | 2.00  | ok     |
| slow    | ≤ 2 × floor | 2.0 ms (median 3.0) | 5.0 ms (median 5.0) | 2.50  | MISSED |
`
    )
  })
})

describe("Processes", () => {
  it.live("lets subjects take turns after a first run that does not count", () =>
    Effect.gen(function* () {
      const order: Array<string> = []
      const subject = (name: string) => Effect.sync(() => order.push(name))
      const { a, b } = yield* Processes.takeTurns({ a: subject("a"), b: subject("b") }, 2)
      assert.deepStrictEqual(order, ["a", "b", "a", "b", "a", "b"])
      assert.deepStrictEqual([a, b], [Samples.of([3, 5]), Samples.of([4, 6])])
    })
  )

  it.live("measures a process, and refuses one that failed", () =>
    Effect.gen(function* () {
      const run = yield* Processes.once({ args: ["-e", "console.log(process.env.WORD)"], env: { WORD: "hi" } })
      assert.isAbove(run.wall, 0)
      const error = yield* Effect.flip(Processes.once({ args: ["-e", "throw new Error('no')"] }))
      assert.strictEqual(error.code, 1)
      assert.include(error.message, "Error: no")
    })
  )
})

describe("SseServer", () => {
  it.live("streams a whole completion and knows when it was asked", () =>
    Effect.gen(function* () {
      const server = yield* SseServer.make(3)
      const text = yield* Effect.promise(() =>
        fetch(server.url, { method: "POST" }).then((response) => response.text())
      )
      assert.lengthOf(text.trim().split("\n\n"), 6)
      assert.isTrue(text.endsWith("data: [DONE]\n\n"))
      assert.isBelow(server.lastRequestAt(), performance.now())
    }).pipe(Effect.scoped)
  )
})
