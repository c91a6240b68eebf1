// An extension in plain TypeScript, outside of this repository: packed, added, used, removed.
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { dsh } from "./support/Dsh.ts"

const manifest = {
  name: "greeter",
  version: "1.2.3",
  type: "module",
  exports: { ".": "./src/Greeter.ts" },
  files: ["src", "rows.yml"],
  peerDependencies: { effect: "^3.22.0", "@dsh/kernel": "*", "@dsh/tools": "*", "@dsh/prompt": "*" },
  dsh: { bundle: { patch: "rows.yml" } }
}

const source = `import * as Plugin from "@dsh/kernel/Plugin"
import { SystemPrompt, layerSection } from "@dsh/prompt/SystemPrompt"
import * as Tool from "@dsh/tools/Tool"
import { PreExecute } from "@dsh/tools/ToolHooks"
import * as Tools from "@dsh/tools/Tools"
import { Effect, Layer, Schema } from "effect"
import { appendFileSync } from "node:fs"

interface Config {
  readonly word: string
}

const greet = ({ word }: Config) =>
  Tool.make({
    name: "greet",
    description: "Greets somebody.",
    parameters: Schema.Struct({ name: Schema.String }),
    output: Schema.String,
    execute: ({ name }) => Effect.succeed(\`\${word}, \${name}\` as string),
    render: (_, text) => text
  })

/** Writes down every call, and lets nobody greet Mallory. */
const gate = PreExecute.hook("greeter", (call, next) => {
  const log: string | undefined = process.env["GREETER_LOG"]
  if (log !== undefined) appendFileSync(log, \`\${call.name}\\n\`)
  return JSON.stringify(call.arguments).includes("Mallory")
    ? Effect.succeed({ kind: "deny", reason: "nobody greets Mallory" } as const)
    : next(call)
})

export default Plugin.make({
  name: "greeter",
  config: Schema.Struct({ word: Schema.optionalWith(Schema.String, { default: () => "Hello" }) }),
  requires: [Tools.Tools, SystemPrompt, PreExecute],
  layer: (config) =>
    Layer.mergeAll(
      Tools.layerTool(greet(config)),
      gate,
      layerSection({ name: "greeter", order: 150, text: "Be polite: greet whom you meet." })
    )
})
`

const rows = `- insert:
    - id: greeter
      name: greeter
      config:
        word: Good day
`

const temporary = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "dsh-extension-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** The package as its author has it, and the tarball it is packed into. */
const packed = (root: string, change: object = {}, code = source, more: Readonly<Record<string, string>> = {}) => {
  const folder = join(root, "greeter")
  for (const [file, text] of Object.entries({
    "package.json": JSON.stringify({ ...manifest, ...change }),
    "src/Greeter.ts": code,
    "rows.yml": rows,
    ...more
  })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  execFileSync("npm", ["pack", "--silent"], { cwd: folder, env: { ...process.env, HOME: root } })
  return join(folder, "greeter-1.2.3.tgz")
}

const run = (args: ReadonlyArray<string>, home: string, cwd: string, env: Readonly<Record<string, string>> = {}) =>
  Effect.promise(() => dsh(args, { cwd, env: { DSH_HOME: home, HOME: home, DEEPSEEK_API_KEY: "sk-test", ...env } }))

interface Sent {
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: string }>
  readonly tools: ReadonlyArray<{ readonly function: { readonly name: string } }>
}

const asked = (server: MockLlm.MockLlm["Type"]) =>
  Effect.map(server.requests, (all) => all.map(({ json }) => json as Sent))

describe("an extension", () => {
  it.scopedLive(
    "brings a tool, a hook and a section, is seen in the dump, and disappears without trace",
    () =>
      Effect.gen(function* () {
        const root = yield* temporary
        const [home, cwd] = [join(root, "home"), join(root, "work")]
        mkdirSync(cwd)
        const tarball = packed(root)
        const before = yield* run(["--profile", "headless", "--dump-config"], home, cwd)
        assert.notInclude(before.stdout, "greeter")

        const added = yield* run(
          ["plugin", "--profile", "headless", "add", "./greeter-1.2.3.tgz"],
          home,
          join(tarball, "..")
        )
        assert.strictEqual(added.code, 0, added.stderr)
        assert.strictEqual(added.stdout, "")
        assert.include(added.stderr, "greeter is part of the profile headless now")
        const dumped = yield* run(["--profile", "headless", "--dump-config"], home, cwd)
        assert.match(
          dumped.stdout,
          /# .*greeter\/rows\.yml\n- id: greeter\n {2}name: greeter\n {2}config:\n {4}word: Good day\n/
        )

        const call = (name: string) => Reply.toolCalls([{ name: "greet", arguments: { name } }])
        const server = yield* MockLlm.make({
          script: Script.sequence([call("Ada"), call("Mallory"), Reply.text("done")])
        })
        const log = join(root, "calls.log")
        const env = { DEEPSEEK_BASE_URL: server.url, GREETER_LOG: log, DSH_PERMISSION_MODE: "danger-full-access" }
        const ran = yield* run(["run", "meet people"], home, cwd, env)
        assert.deepStrictEqual([ran.code, ran.stdout], [0, "done\n"], ran.stderr)
        const [first, second, third] = yield* asked(server)
        assert.include(first?.messages[0]?.content, "Be polite: greet whom you meet.")
        assert.isTrue(first?.tools.some((tool) => tool.function.name === "greet"))
        assert.strictEqual(second?.messages.at(-1)?.content, "Good day, Ada")
        assert.include(third?.messages.at(-1)?.content, "nobody greets Mallory")
        assert.strictEqual(readFileSync(log, "utf8"), "greet\ngreet\n")

        const listed = yield* run(["plugin", "list"], home, cwd)
        assert.deepStrictEqual(listed.stdout, "greeter  1.2.3  part of the profile\n", listed.stderr)
        const forPrograms = yield* run(["plugin", "--profile=headless", "list", "--json"], home, cwd)
        assert.deepStrictEqual(JSON.parse(forPrograms.stdout), { name: "greeter", version: "1.2.3", isBundle: true })

        const removed = yield* run(["plugin", "--profile", "headless", "remove", "greeter"], home, cwd)
        assert.strictEqual(removed.code, 0, removed.stderr)
        assert.include(removed.stderr, "greeter is no part of the profile headless any more")
        const after = yield* run(["--profile", "headless", "--dump-config"], home, cwd)
        assert.strictEqual(after.stdout, before.stdout)
        const manifest = readFileSync(join(home, "profiles/headless/package.json"), "utf8")
        assert.notInclude(manifest, "greeter")
        const modules = join(home, "profiles/headless/node_modules")
        assert.isFalse(existsSync(join(modules, "greeter")))
      }),
    240_000
  )

  const broken: ReadonlyArray<
    readonly [name: string, change: object, code: string, more: Readonly<Record<string, string>>, says: RegExp]
  > = [
    [
      "that brings a copy of effect along",
      { bundleDependencies: ["effect"], dependencies: { effect: "3.22.4" }, peerDependencies: {} },
      source,
      {
        "node_modules/effect/package.json":
          '{"name":"effect","version":"3.22.4","type":"module","exports":"./index.js"}',
        "node_modules/effect/index.js": "export const Effect = {}"
      },
      /^dsh: SECOND_COPY: .*greeter\/rows\.yml:2: row "greeter" brings a copy of effect along, .*node_modules\/effect, and the command has its own in .*; make it a peerDependency of greeter/
    ],
    [
      "whose module throws",
      {},
      'throw new Error("no greeting today")',
      {},
      /^dsh: PLUGIN_NOT_LOADED: .*row "greeter" could not be loaded: no greeting today; correct greeter, or remove it with "dsh plugin --profile headless remove greeter"/
    ],
    [
      "with TypeScript that is more than types",
      {},
      "export enum Word { Hello }",
      {},
      /^dsh: PLUGIN_NOT_LOADED: .*Greeter\.ts is no TypeScript whose types can be left out/
    ],
    [
      "that imports what nobody shares",
      {},
      'import "@dsh/loop/AgentLoop"',
      {},
      /^dsh: PLUGIN_NOT_LOADED: .*@dsh\/loop\/AgentLoop is nothing that extensions can import/
    ],
    [
      "without a plugin",
      {},
      "export const hello = 1",
      {},
      /^dsh: NOT_A_PLUGIN: .*it exports hello\); export default Plugin\.make/
    ],
    [
      "in CommonJS",
      { type: "commonjs", exports: { ".": "./src/Greeter.cjs" } },
      "",
      { "src/Greeter.cjs": "module.exports = {}" },
      /^dsh: PLUGIN_NOT_LOADED: .*is CommonJS; extensions are ES modules/
    ],
    [
      "whose rows are missing from the package",
      { files: ["src"] },
      source,
      {},
      /^dsh: INVALID_BUNDLE: .*greeter\/package\.json: names .*rows\.yml as its patch, which is not there/
    ],
    [
      "that is given an unknown option",
      {},
      source,
      { "rows.yml": rows.replace("word:", "words:") },
      /^dsh: UNKNOWN_OPTION: .*row "greeter" sets "words", which greeter does not know; did you mean "word"\?/
    ]
  ]
  for (const [name, change, code, more, says] of broken) {
    it.scopedLive(
      `${name} is refused with exit code 3, before anything runs`,
      () =>
        Effect.gen(function* () {
          const root = yield* temporary
          const [home, cwd] = [join(root, "home"), join(root, "work")]
          mkdirSync(cwd)
          const tarball = packed(root, change, code, more)
          const added = yield* run(["plugin", "add", tarball], home, cwd)
          assert.strictEqual(added.code, 0, added.stderr)
          const ran = yield* run(["run", "hello"], home, cwd)
          assert.deepStrictEqual([ran.code, ran.stdout], [3, ""], ran.stderr)
          assert.match(ran.stderr, says)
          assert.isFalse(existsSync(join(home, "sessions")))
        }),
      120_000
    )
  }

  it.scopedLive(
    "may be the folder that its author works in, with what types and tests need in it",
    () =>
      Effect.gen(function* () {
        const root = yield* temporary
        const [home, cwd] = [join(root, "home"), join(root, "work")]
        mkdirSync(cwd)
        packed(root, {}, source, {
          "node_modules/effect/package.json":
            '{"name":"effect","version":"1.0.0","type":"module","exports":"./index.js"}',
          "node_modules/effect/index.js": "export const Effect = {}"
        })
        const added = yield* run(["plugin", "add", "./greeter"], home, root)
        assert.strictEqual(added.code, 0, added.stderr)
        const server = yield* MockLlm.make({ script: Script.sequence([Reply.text("done")]) })
        const ran = yield* run(["run", "hello"], home, cwd, { DEEPSEEK_BASE_URL: server.url })
        assert.deepStrictEqual([ran.code, ran.stdout], [0, "done\n"], ran.stderr)
        const [first] = yield* asked(server)
        assert.include(first?.messages[0]?.content, "Be polite")
      }),
    120_000
  )

  it.scopedLive("cannot be added without a package manager", () =>
    Effect.gen(function* () {
      const root = yield* temporary
      const { code, stderr } = yield* run(["plugin", "add", "x"], join(root, "home"), root, { PATH: "/nowhere" })
      assert.strictEqual(code, 127)
      assert.match(stderr, /dsh: NO_PACKAGE_MANAGER: neither pnpm nor npm is on the PATH; install one\n$/)
    })
  )

  it.scopedLive("that does not exist ends with the code of the package manager, and changes nothing", () =>
    Effect.gen(function* () {
      const root = yield* temporary
      const home = join(root, "home")
      const { code } = yield* run(["plugin", "add", "./nope.tgz"], home, root)
      assert.isAbove(code ?? 0, 0)
      const kept = JSON.parse(readFileSync(join(home, "profiles/headless/package.json"), "utf8")) as object
      assert.deepInclude(kept, { dsh: { profile: { bundles: ["base", "headless"], patchReload: "startup" } } })
    })
  )
})
