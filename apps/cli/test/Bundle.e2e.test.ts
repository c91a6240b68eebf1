import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"

const out = mkdtempSync(join(tmpdir(), "dsh-bundle-"))
let main = ""

beforeAll(async () => {
  const { bundle } = await import("../../../scripts/bundle.mjs")
  main = basename(await bundle({ input: fileURLToPath(new URL("../src/Main.ts", import.meta.url)), out }))
})
afterAll(() => rmSync(out, { recursive: true, force: true }))

/** The chunks that loading `chunk` evaluates at once, and those it may load later. */
const imports = (chunk: string, kind: "static" | "dynamic"): ReadonlyArray<string> =>
  Array.from(readFileSync(join(out, chunk), "utf8").matchAll(/(=>\s*)?\brequire\([`'"]\.\/([^`'"]+)[`'"]\)/g))
    .filter(([, arrow]) => (arrow !== undefined) === (kind === "dynamic"))
    .map(([, , name]) => name!)

const closure = (chunk: string, seen = new Set<string>()): ReadonlySet<string> => {
  if (seen.has(chunk)) return seen
  seen.add(chunk)
  for (const next of imports(chunk, "static")) closure(next, seen)
  return seen
}

const lane = (name: string) => imports(main, "dynamic").find((chunk) => chunk.startsWith(`${name}-`))!

const text = (chunks: Iterable<string>) =>
  Array.from(chunks, (chunk) => readFileSync(join(out, chunk), "utf8")).join("\n")

describe("the bundle", () => {
  it("parses the command line before it loads any library", () => {
    assert.notInclude(text(closure(main)), "effect/Effect")
  })

  it("keeps @effect/cli out of the short lane", () => {
    assert.notInclude(text(closure(lane("ShortLane"))), "@effect/cli/")
    assert.include(text(closure(lane("FullLane"))), "@effect/cli/")
  })

  it("has no undici, whose megabyte nothing uses", () => {
    const all = new Set<string>()
    const visit = (chunk: string): void => {
      if (all.has(chunk)) return
      all.add(chunk)
      for (const next of [...imports(chunk, "static"), ...imports(chunk, "dynamic")]) visit(next)
    }
    visit(main)
    assert.isAbove(all.size, 5)
    assert.notInclude(text(all), "UndiciError")
  })

  it("names its inputs, so that the launcher can tell when it is stale", () => {
    const [chunk, ...inputs] = readFileSync(join(out, "main"), "utf8").split("\n")
    assert.strictEqual(chunk, main)
    for (const file of ["apps/cli/src/Main.ts", "apps/cli/src/commands/Run.ts", "pnpm-lock.yaml"]) {
      assert.include(inputs, file)
    }
    assert.isFalse(inputs.some((file) => file.includes("node_modules")))
  })
})
