import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { PassThrough } from "node:stream"
import * as Confirm from "../src/Confirm.ts"

const terminal = (isTTY: boolean) => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  return { input: Object.assign(input, { isTTY }), output: Object.assign(output, { isTTY }) }
}

const answer = (typed: string) =>
  Effect.gen(function* () {
    const streams = terminal(true)
    const asked = yield* Effect.fork(Confirm.ask("really?", () => streams))
    yield* Effect.async<void>((resume) => void streams.output.once("readable", () => resume(Effect.void)))
    assert.include(String(streams.output.read()), "dsh: really? [y/N] ")
    if (typed === "") streams.input.end()
    else streams.input.write(typed)
    return yield* Fiber.join(asked)
  })

describe("Confirm", () => {
  it.live("takes yes for yes, and anything else for no", () =>
    Effect.gen(function* () {
      for (const yes of ["y\n", "Y\n", " yes \n"]) assert.isTrue(yield* answer(yes), yes)
      for (const no of ["\n", "n\n", "yup\n", ""]) assert.isFalse(yield* answer(no), no)
    })
  )

  it.live("asks nobody where nobody is", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* Confirm.ask("really?", () => terminal(false)))
    })
  )

  it.live("gives the terminal back when it is interrupted", () =>
    Effect.gen(function* () {
      const streams = terminal(true)
      const asked = yield* Effect.fork(Confirm.ask("really?", () => streams))
      yield* Effect.async<void>((resume) => void streams.output.once("readable", () => resume(Effect.void)))
      yield* Fiber.interrupt(asked)
      assert.isTrue(streams.input.isPaused())
    })
  )
})
