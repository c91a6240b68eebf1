import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Subprocess } from "../src/Subprocess.ts"
import * as SubprocessLocal from "../src/SubprocessLocal.ts"
import { suite } from "./SubprocessLocal.suite.ts"

// Only in a process of its own do children get named pipes. Everything has to hold with those as well.
suite("in a main thread")

describe("NamedPipes", () => {
  it.live("let a command open its own output by name", () =>
    Effect.gen(function* () {
      const subprocess = yield* Subprocess
      const output = { maxBytes: 1000 }
      const script = "echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/stderr; cat /dev/stdin"
      for (let i = 0; i < 20; i++) {
        const { collected, exit } = yield* subprocess.spawn({
          argv: ["bash", "-c", script],
          cwd: "/",
          stdin: "ignore",
          stdout: output,
          stderr: output
        })
        assert.deepStrictEqual(yield* exit, { exitCode: 0, signal: null, pipeHeld: false })
        assert.strictEqual(Buffer.from((yield* collected.stdout.readFrom(0)).bytes).toString(), "a\nc\n")
        assert.strictEqual(Buffer.from((yield* collected.stderr.readFrom(0)).bytes).toString(), "b\nc\n")
      }
    }).pipe(Effect.scoped, Effect.provide(SubprocessLocal.layer()))
  )
})
