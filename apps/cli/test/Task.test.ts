import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { PassThrough, Readable } from "node:stream"
import * as Task from "../src/Task.ts"

const noStdin = (): never => {
  throw new Error("stdin was opened")
}

describe("Task", () => {
  it.effect("is its words, joined by single spaces", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Task.resolve(["fix ", "the", "test"], noStdin), "fix  the test")
    })
  )

  it.effect("comes from stdin when there are no words", () =>
    Effect.gen(function* () {
      const piped = Buffer.from("  répare\nle test\n")
      const chunks = () => Readable.from([piped.subarray(0, 4), piped.subarray(4)])
      assert.strictEqual(yield* Task.resolve([], chunks), "répare\nle test")
    })
  )

  it.effect("is never asked for", () =>
    Effect.gen(function* () {
      const terminal = Object.assign(new PassThrough(), { isTTY: true })
      for (const [words, stdin] of [
        [[" "], noStdin],
        [[], () => Readable.from([" \n"])],
        [[], () => Readable.from([])],
        [[], () => terminal]
      ] as const) {
        assert.deepInclude(yield* Effect.flip(Task.resolve(words, stdin)), { code: "USAGE", exitCode: 2 })
      }
    })
  )

  it.effect("gives up on a pipe nobody writes to", () =>
    Effect.gen(function* () {
      const pipe = new PassThrough()
      const fiber = yield* Effect.fork(Effect.flip(Task.resolve([], () => pipe)))
      yield* TestClock.adjust("1 minute")
      assert.include((yield* Fiber.join(fiber)).message, "nothing arrived on stdin")
    })
  )

  it.effect("says why stdin cannot be read", () =>
    Effect.gen(function* () {
      const broken = () => new Readable({ read: (): void => void 0 }).destroy(new Error("EISDIR: read"))
      assert.include((yield* Effect.flip(Task.resolve([], broken))).message, "EISDIR")
    })
  )
})
