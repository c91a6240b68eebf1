/**
 * The project that the demo repairs: a median function that forgets to sort numbers as numbers, and the test that says so.
 */
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Shared with the scripted model, which has to quote it. */
export const bug = "const sorted = [...numbers].sort()"
export const fix = "const sorted = [...numbers].sort((a, b) => a - b)"

const files: Readonly<Record<string, string>> = {
  "package.json": `{ "name": "median", "version": "1.0.0", "type": "module", "scripts": { "test": "node --test" } }\n`,
  "src/median.js": `/** The middle of a list of numbers; the mean of the two middle ones when there is no single one. */
export const median = (numbers) => {
  ${bug}
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
`,
  "test/median.test.js": `import assert from "node:assert/strict"
import { test } from "node:test"
import { median } from "../src/median.js"

test("one middle", () => assert.equal(median([3, 1, 2]), 2))
test("two middles", () => assert.equal(median([4, 1, 3, 2]), 2.5))
test("numbers are ordered as numbers", () => assert.equal(median([10, 9, 1]), 9))
`
}

/** Writes the project into a fresh temporary folder. */
export const create: Effect.Effect<string> = Effect.promise(async () => {
  const folder = await mkdtemp(join(tmpdir(), "dsh-demo-"))
  for (const name of ["src", "test"]) await mkdir(join(folder, name))
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  return folder
})

export interface TestRun {
  readonly passed: boolean
  readonly output: string
}

/** Runs the project's tests, apart from any agent. */
export const test = (folder: string): Effect.Effect<TestRun> =>
  Effect.async((resume) => {
    // A test runner above this process must not take the project's tests for its own.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const child = execFile(process.execPath, ["--test"], { cwd: folder, env }, (error, stdout, stderr) =>
      resume(Effect.succeed({ passed: error === null, output: stdout + stderr }))
    )
    return Effect.sync(() => child.kill())
  })
