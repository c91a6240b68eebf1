import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Writable } from "node:stream"
import * as Color from "../src/Color.ts"
import * as Output from "../src/Output.ts"

class Sink extends Writable {
  text = ""
  readonly failure: NodeJS.ErrnoException | undefined
  constructor(failure?: NodeJS.ErrnoException) {
    super()
    this.failure = failure
  }
  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void) {
    if (this.failure !== undefined) return done(this.failure)
    this.text += chunk.toString()
    done()
  }
}

const make = (stdout = new Sink()) => {
  const stderr = new Sink()
  return { output: Output.make({ stdout, stderr }), stdout, stderr }
}

const errno = (code: string) => Object.assign(new Error(`${code}: write`), { code })

describe("Output", () => {
  it.effect("prints the answer and one newline on stdout", () =>
    Effect.gen(function* () {
      const { output, stderr, stdout } = make()
      yield* output.print("two\nlines")
      yield* output.print("")
      assert.deepStrictEqual([stdout.text, stderr.text], ["two\nlines\n\n", ""])
    })
  )

  it.effect("streams reasoning as it comes, each line with its prefix", () =>
    Effect.gen(function* () {
      const { output, stderr, stdout } = make()
      for (const delta of ["I ", "", "see", ".\nNow", "\n", "\n", "then\n\nlast"]) output.reasoning(delta)
      assert.isTrue(stderr.text.startsWith("dsh: reasoning: I see.\ndsh: reasoning: Now\n"))
      yield* output.flush
      assert.strictEqual(
        stderr.text,
        ["I see.", "Now", "", "then", "", "last"].map((line) => `dsh: reasoning: ${line}\n`).join("")
      )
      assert.strictEqual(stdout.text, "")
    })
  )

  it("puts everything else on stderr on lines of its own", () => {
    const { output, stderr } = make()
    output.reasoning("half a")
    output.notice("warning: look out")
    output.reasoning("thought")
    output.failure({ code: "AUTH", message: "the key was refused" })
    assert.deepStrictEqual(stderr.text.split("\n"), [
      "dsh: reasoning: half a",
      "dsh: warning: look out",
      "dsh: reasoning: thought",
      "dsh: AUTH: the key was refused",
      ""
    ])
  })

  it.effect("takes a reader that left for no failure", () =>
    Effect.gen(function* () {
      const { output } = make(new Sink(errno("EPIPE")))
      yield* output.print("first")
      yield* output.print("second")
      yield* output.flush
    })
  )

  it.effect("fails when the answer cannot be written", () =>
    Effect.gen(function* () {
      const { output } = make(new Sink(errno("ENOSPC")))
      const failure = yield* Effect.flip(output.print("answer"))
      assert.deepInclude(failure, { code: "OUTPUT", exitCode: 1 })
      assert.include(failure.message, "ENOSPC")
    })
  )
})

describe("Color", () => {
  it("is for terminals, unless somebody asked for none", () => {
    assert.isTrue(Color.isEnabled({ isTTY: true }, {}))
    assert.isTrue(Color.isEnabled({ isTTY: true }, { NO_COLOR: "" }))
    assert.isFalse(Color.isEnabled({ isTTY: true }, { NO_COLOR: "1" }))
    assert.isFalse(Color.isEnabled({ isTTY: true }, { TERM: "dumb" }))
    assert.isFalse(Color.isEnabled({}, {}))
  })
})
