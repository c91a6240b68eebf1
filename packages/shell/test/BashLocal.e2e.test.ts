import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as NodeFs from "node:fs"
import { Shell } from "../src/Shell.ts"
import { bash } from "./support.ts"

const MiB = 1024 * 1024

describe("BashLocal in a process of its own", () => {
  it.live("takes half a gigabyte of output in bounded memory and on bounded disk", () =>
    Effect.gen(function* () {
      const shell = yield* Shell
      const before = process.memoryUsage.rss()
      const flood = yield* shell.run({ command: "yes | head -c 500M", cwd: "/" })
      const line = yield* shell.run({ command: "head -c 60M /dev/zero | tr '\\0' a", cwd: "/" })
      assert.isBelow(process.memoryUsage.rss() - before, 100 * MiB)

      assert.deepInclude(flood.stdout, { truncated: true, totalBytes: 500 * MiB })
      assert.isUndefined(flood.stdout.spillPath)
      const lines = (n: number) => "y\n".repeat(n)
      assert.strictEqual(
        flood.stdout.text,
        `${lines(8000)}[… ${500 * MiB - 64_000} bytes left out …]\n${lines(24_000)}`
      )
      assert.match(line.stdout.text, /^a{16000}\n\[… \d+ bytes left out …\]\na{48000}$/)
      assert.strictEqual(NodeFs.statSync(line.stdout.spillPath!).size, 60 * MiB)
    }).pipe(Effect.provide(bash()))
  )

  it.live("binary files are a notice", () =>
    Effect.gen(function* () {
      const shell = yield* Shell
      const { stdout } = yield* shell.run({ command: `cat ${process.execPath}`, cwd: "/" })
      assert.match(stdout.text, /^\[binary output of \d+ bytes, not shown\]$/)
    }).pipe(Effect.provide(bash()))
  )
})
