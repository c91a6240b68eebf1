import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { PassThrough, Readable } from "node:stream"
import * as Output from "../src/Output.ts"
import type { Stdin } from "../src/Stdin.ts"
import * as Task from "../src/Task.ts"

const output = Output.make({ stdout: new PassThrough(), stderr: new PassThrough() })

const noStdin = (): never => {
  throw new Error("stdin was opened")
}

const resolve = (words: ReadonlyArray<string>, stdin: () => Stdin, beside = "") =>
  Effect.provideService(Task.resolve({ words, stdin, beside: Effect.succeed(beside) }), Output.Output, output)

describe("Task", () => {
  it.effect("is its words, joined by single spaces", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* resolve(["fix ", "the", "test"], noStdin), "fix  the test")
    })
  )

  it.effect("has what is piped in behind it", () =>
    Effect.gen(function* () {
      const task = yield* resolve(["sum", "up"], noStdin, "a\nb")
      assert.strictEqual(task, "sum up\n\n<stdin>\na\nb\n</stdin>")
    })
  )

  it.effect("comes from stdin when there are no words", () =>
    Effect.gen(function* () {
      const piped = Buffer.from("  répare\nle test\n")
      const chunks = () => Readable.from([piped.subarray(0, 4), piped.subarray(4)])
      assert.strictEqual(yield* resolve([], chunks), "répare\nle test")
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
        assert.deepInclude(yield* Effect.flip(resolve(words, stdin)), { code: "USAGE", exitCode: 2 })
      }
    })
  )

  it.effect("gives up on a pipe nobody writes to", () =>
    Effect.gen(function* () {
      const pipe = new PassThrough()
      const fiber = yield* Effect.fork(Effect.flip(resolve([], () => pipe)))
      yield* TestClock.adjust("1 minute")
      assert.include((yield* Fiber.join(fiber)).message, "nothing arrived on stdin")
    })
  )

  it.effect("says why stdin cannot be read", () =>
    Effect.gen(function* () {
      const broken = () => new Readable({ read: (): void => void 0 }).destroy(new Error("EISDIR: read"))
      assert.include((yield* Effect.flip(resolve([], broken))).message, "EISDIR")
    })
  )
})
