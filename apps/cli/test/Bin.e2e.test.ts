// The launcher in `bin/`, around a bundle and a build script made up for the test.
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { bin, node } from "./support/Dsh.ts"

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "dsh-bin-"))
  cpSync(dirname(bin), join(root, "apps/cli/bin"), { recursive: true })
  copyFileSync(join(dirname(bin), "../package.json"), join(root, "apps/cli/package.json"))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const put = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

/** A chunk is a function, as Node makes one of a module. */
const chunk = (code: string) => `(function (exports, require, module) { ${code}\n})`

/** A bundle of two chunks that prints how often it was built. */
const putBundle = (body = `console.log(require("./part-0.cjs").builds)`) => {
  put("apps/cli/dist/part-0.cjs", chunk("exports.builds = 0"))
  put("apps/cli/dist/Main-0.cjs", chunk(body))
  put("apps/cli/dist/main", "Main-0.cjs\npackages/a/src/A.ts")
}

/** A build script that counts its runs in the output of what it builds. */
const putBuilder = () =>
  put(
    "scripts/build.mjs",
    `import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
     const builds = existsSync("builds") ? Number(readFileSync("builds", "utf8")) + 1 : 1
     writeFileSync("builds", String(builds))
     mkdirSync("apps/cli/dist", { recursive: true })
     writeFileSync("apps/cli/dist/Main-" + builds + ".cjs", "(() => console.log(" + builds + "))")
     writeFileSync("apps/cli/dist/main", "Main-" + builds + ".cjs\\npackages/a/src/A.ts")`
  )

const run = (...args: ReadonlyArray<string>) => node(join(root, "apps/cli/bin/dsh.cjs"), args)

const printed = async () => {
  const { code, stderr, stdout } = await run("run")
  assert.deepStrictEqual([code, stderr], [0, ""])
  return stdout.trim()
}

const caches = () => readdirSync(join(root, "apps/cli/dist")).filter((name) => name.endsWith(".cache"))

describe("in a checkout", () => {
  beforeEach(() => {
    putBuilder()
    put("packages/a/src/A.ts", "")
    utimesSync(join(root, "packages/a/src/A.ts"), 1, 1)
  })

  it("builds what is missing, and again only when a source changed or went", async () => {
    assert.strictEqual(await printed(), "1")
    assert.strictEqual(await printed(), "1")
    const later = Date.now() / 1000 + 60
    utimesSync(join(root, "packages/a/src/A.ts"), later, later)
    assert.strictEqual(await printed(), "2")
    rmSync(join(root, "packages/a/src/A.ts"))
    assert.strictEqual(await printed(), "3")
  })

  it("says what to do when it cannot be built", async () => {
    put("scripts/build.mjs", `console.log("broken"); process.exit(1)`)
    const { code, stderr, stdout } = await run("run")
    assert.deepStrictEqual([code, stdout], [3, ""])
    assert.match(stderr, /^broken\ndsh: BUILD: .*pnpm.* install.*\n$/)
  })

  it("answers --version without building", async () => {
    assert.match((await run("--version")).stdout, /^dsh \d/)
    assert.notInclude(readdirSync(join(root, "apps/cli")), "dist")
  })
})

describe("installed", () => {
  it("starts the bundle it came with", async () => {
    putBundle()
    assert.strictEqual(await printed(), "0")
  })

  it("keeps compiled code of successful runs, and survives it being damaged", async () => {
    putBundle()
    await run("run")
    assert.lengthOf(caches(), 2)
    for (const name of caches()) writeFileSync(join(root, "apps/cli/dist", name), "damaged")
    assert.strictEqual(await printed(), "0")
    assert.strictEqual(await printed(), "0")
  })

  it("keeps what was compiled until the first answer, and not what came after it", async () => {
    const sizeOf = async (body: string) => {
      putBundle(`function late() { return [${"Math.random(), ".repeat(500)}].length }\n${body}`)
      assert.strictEqual((await run("run")).code, 0)
      const [size = 0] = caches().map((name) => statSync(join(root, "apps/cli/dist", name)).size)
      for (const name of caches()) rmSync(join(root, "apps/cli/dist", name))
      return size
    }
    const before = await sizeOf(`late(); process.emit("dsh:answered")`)
    const after = await sizeOf(`process.emit("dsh:answered"); late()`)
    assert.isAbove(before, after + 1000)
  })

  it("makes caches that the next run accepts, also of what is loaded when V8 runs differently", async () => {
    putBundle(`process.emit("dsh:answered"); require("./part-0.cjs")`)
    await run("run")
    const written = () => caches().map((name) => statSync(join(root, "apps/cli/dist", name)).mtimeMs)
    for (const name of caches()) utimesSync(join(root, "apps/cli/dist", name), 1, 1)
    await run("run")
    assert.deepStrictEqual(written(), [1000, 1000])
  })

  it("keeps none of a run that failed", async () => {
    putBundle("process.exitCode = 1")
    await run("run")
    assert.lengthOf(caches(), 0)
  })

  it("refuses a second copy of effect and names both", async () => {
    const effect = createRequire(import.meta.url).resolve("effect/GlobalValue")
    for (const copy of ["one", "two"]) {
      mkdirSync(join(root, copy))
      copyFileSync(effect, join(root, copy, "GlobalValue.cjs"))
    }
    const load = (copy: string) =>
      `require(${JSON.stringify(join(root, copy, "GlobalValue.cjs"))}).globalValue("${copy}", () => 1);`
    putBundle(load("one") + load("one"))
    assert.strictEqual((await run("run")).code, 0)
    putBundle(`${load("one")} try { ${load("two")} } catch (error) { console.log(error.message) }`)
    const { stdout } = await run("run")
    assert.include(stdout, "DUPLICATE_EFFECT")
    for (const copy of ["one", "two"]) assert.include(stdout, join(root, copy, "GlobalValue.cjs"))
  })
})
