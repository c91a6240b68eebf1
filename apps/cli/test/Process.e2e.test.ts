import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import { node } from "./support/Dsh.ts"
import type { Options } from "./support/Dsh.ts"

const folder = mkdtempSync(join(tmpdir(), "dsh-process-"))
const program = join(folder, "Endings.cjs")

beforeAll(async () => {
  const build = await rolldown({
    input: fileURLToPath(new URL("programs/Endings.ts", import.meta.url)),
    platform: "node"
  })
  await build.write({ file: program, format: "cjs" })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (ending: string, options?: Options) => node(program, [ending], options)

/** Sends the signals, one per line that the program prints. */
const signalling = (...signals: ReadonlyArray<NodeJS.Signals>): Options => {
  let sent = 0
  return {
    onOutput: (child, { stdout }) => {
      while (sent < signals.length && stdout.split("\n").length - 1 > sent) child.kill(signals[sent++])
    }
  }
}

describe("Process.runMain", () => {
  it("ends with the exit code of the command, its logs on stderr", async () => {
    const result = await run("code")
    assert.deepStrictEqual(result, { code: 124, signal: null, stdout: "", stderr: "dsh: warning: look out\n" })
  })

  it("reports a failure once", async () => {
    const result = await run("failure")
    assert.deepStrictEqual(result, { code: 1, signal: null, stdout: "", stderr: "dsh: AUTH: the key was refused\n" })
  })

  it("reports a bug with its stack, on stderr", async () => {
    const { code, stderr, stdout } = await run("defect")
    assert.deepStrictEqual([code, stdout], [1, ""])
    assert.match(stderr, /^dsh: INTERNAL: TypeError: a bug\n {4}at /)
  })

  it("cleans up after an exception outside of every effect", async () => {
    const { code, stderr, stdout } = await run("thrown")
    assert.deepStrictEqual([code, stdout], [1, "ready\ncleaned up\n"])
    assert.match(stderr, /^dsh: INTERNAL: TypeError: out of the blue\n/)
  })

  it("ends a line of reasoning that was not ended", async () => {
    assert.strictEqual((await run("unfinished")).stderr, "dsh: reasoning: half a thought\n")
  })

  it("keeps waiting for what only this process could end", async () => {
    const result = await run("forgotten", signalling("SIGINT"))
    assert.deepStrictEqual(result, { code: 130, signal: null, stdout: "ready\n", stderr: "" })
  })

  const signals = [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129]
  ] as const
  for (const [signal, code] of signals) {
    it(`cleans up on ${signal} and ends with ${code}`, async () => {
      const result = await run("polite", signalling(signal))
      assert.deepStrictEqual(result, { code, signal: null, stdout: "ready\ncleaned up\n", stderr: "" })
    })
  }

  it("ends at once on a second signal", async () => {
    const result = await run("stubborn", signalling("SIGINT", "SIGTERM"))
    assert.deepStrictEqual(result, { code: 143, signal: null, stdout: "ready\ncleaning\n", stderr: "" })
  })

  it("does not wait for ever for the cleaning up", async () => {
    const { code, stderr, stdout } = await run("stubborn", signalling("SIGTERM"))
    assert.deepStrictEqual([code, stdout], [143, "ready\ncleaning\n"])
    assert.match(stderr, /^dsh: SHUTDOWN: cleaning up took longer than 200 ms/)
  })
})
