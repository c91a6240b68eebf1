import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { PassThrough } from "node:stream"
import * as HiddenInput from "../src/HiddenInput.ts"

/** What is answered to what is typed, what the terminal showed, and how it was switched. */
const asking = (...typed: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const modes: Array<boolean> = []
    const input = Object.assign(new PassThrough(), { setRawMode: (raw: boolean) => modes.push(raw) })
    const output = new PassThrough()
    const asked = yield* Effect.fork(HiddenInput.ask("the key", { input, output }))
    yield* Effect.async<void>((resume) => void output.once("readable", () => resume(Effect.void)))
    if (typed.length === 0) yield* Fiber.interrupt(asked)
    for (const text of typed) {
      if (text === "") input.end()
      else input.write(text)
    }
    const exit = yield* Fiber.await(asked)
    return { answer: exit._tag === "Success" ? exit.value : "interrupted", shown: String(output.read()), modes, input }
  })

describe("HiddenInput", () => {
  it.live("takes a line, however it comes, and shows nothing of it", () =>
    Effect.gen(function* () {
      for (const typed of [
        ["sk-1\r"],
        ["s", "k-", "1", "\n"],
        ["xy\u0015sk-2\u007f1\r"],
        ["sk-1\rand more"],
        ["sk-1", ""]
      ]) {
        const { answer, input, modes, shown } = yield* asking(...typed)
        assert.strictEqual(answer, "sk-1")
        assert.strictEqual(shown, "dsh: the key: \n")
        assert.deepStrictEqual(modes, [true, false])
        assert.isTrue(input.isPaused())
      }
    })
  )

  it.live("gives nothing at the end of the input, and the terminal back when it is interrupted", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* asking("\u0004")).answer)
      assert.isUndefined((yield* asking("")).answer)
      const { answer, modes } = yield* asking()
      assert.strictEqual(answer, "interrupted")
      assert.deepStrictEqual(modes, [true, false])
    })
  )
})
