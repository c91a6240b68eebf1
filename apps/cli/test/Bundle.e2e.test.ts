import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { node } from "./support/Dsh.ts"

const out = mkdtempSync(join(tmpdir(), "dsh-bundle-"))
let main = ""

beforeAll(async () => {
  const { bundle } = await import("../../../scripts/bundle.mjs")
  const source = (name: string) => fileURLToPath(new URL(`../src/${name}`, import.meta.url))
  main = basename(await bundle({ input: source("Main.ts"), alone: source("ShortLane.ts"), out }))
}, 60_000)
afterAll(() => rmSync(out, { recursive: true, force: true }))

/** The chunks that loading `chunk` evaluates at once, and those it may load later. */
const imports = (chunk: string, kind: "static" | "dynamic"): ReadonlyArray<string> =>
  Array.from(readFileSync(join(out, chunk), "utf8").matchAll(/(=>[^=;{}]{0,40})?\brequire\([`'"]\.\/([^`'"]+)[`'"]\)/g))
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

  it("makes one chunk of the short lane, and loads of Node only what it uses", () => {
    // Beside the bundler's own helpers, which are a few lines.
    const chunks = [...closure(lane("ShortLane"))].filter((chunk) => !chunk.startsWith("rolldown-runtime"))
    assert.deepStrictEqual(chunks, [lane("ShortLane")])
    const chunk = text([lane("ShortLane")])
    // What a run may need and hardly ever does, such as YAML, is in chunks of its own, over the one copy of the rest.
    for (const later of imports(lane("ShortLane"), "dynamic")) {
      assert.include([...closure(later)], lane("ShortLane"))
    }
    assert.notInclude(chunk, "YAMLParseError")
    // Tools, and what runs programs for them, are loaded when they are called.
    for (const late of ["@vscode/ripgrep", "SUBPROCESS_STDIN_CLOSED"]) assert.notInclude(chunk, late)
    assert.notMatch(chunk, /require\([`'"]node:/)
    assert.include(chunk, "getBuiltinModule(`node:crypto`)")
  })

  it("leaves the parser of shell commands to a package of its own, loaded with the first rule", () => {
    const chunk = text([lane("ShortLane")])
    assert.match(chunk, /require\([`'"]@dsh\/bash-grammar[`'"]\)/)
    assert.notInclude(chunk, "tree-sitter-bash.wasm")
  })

  it("leaves a chat, its terminal and its commands to chunks of their own", () => {
    for (const marker of ["Ctrl+C again leaves", "tui.editor.cursorUp", "command/run"]) {
      assert.notInclude(text(closure(lane("ShortLane"))), marker)
      assert.notInclude(text(closure(lane("FullLane"))), marker)
    }
  })

  it("leaves programs of the model to a chunk and an engine of their own", () => {
    assert.notInclude(text(closure(lane("ShortLane"))), "code-dispatch")
    const programs = imports(lane("ShortLane"), "dynamic").filter((chunk) => chunk.startsWith("Programs-"))
    assert.include(text(programs), "code-dispatch")
    assert.match(text(programs), /require\([`'"]@dsh\/quickjs-thread[`'"]\)/)
    assert.notInclude(text(programs), "quickjs-emscripten")
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

  it("loads a module of Node when it is used", async () => {
    const { bundle } = await import("../../../scripts/bundle.mjs")
    const folder = join(out, "program")
    mkdirSync(folder)
    writeFileSync(
      join(folder, "Program.ts"),
      `import { createHash } from "node:crypto"
       import * as Fs from "node:fs"
       import { Agent } from "node:https"
       const isLoaded = (name) => process.moduleLoadList.includes("NativeModule " + name)
       console.log(["crypto", "https", "internal/fs/promises"].map(isLoaded).join())
       console.log(createHash("sha256").update("abc").digest("hex").slice(0, 8), new Agent({ maxSockets: 3 }).maxSockets)
       Fs.promises.readFile(__filename).then((bytes) => console.log(bytes.length > 0, Fs.existsSync(__filename)))`
    )
    const program = await bundle({ input: join(folder, "Program.ts"), out: folder })
    const { stderr, stdout } = await node(program, [])
    assert.deepStrictEqual([stderr, stdout], ["", "false,false,false\nba7816bf 3\ntrue true\n"])
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
