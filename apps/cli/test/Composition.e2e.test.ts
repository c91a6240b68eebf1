// Compositions from the command line: profiles, patches, dumps, and everything that can be wrong with them.
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { dsh } from "./support/Dsh.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "dsh-composition-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

interface Place {
  readonly home: string
  readonly cwd: string
}

const place = Effect.map(temporary, (root): Place => {
  const [home, cwd] = [join(root, "home"), join(root, "work")]
  mkdirSync(home)
  mkdirSync(cwd)
  return { home, cwd }
})

const run = ({ cwd, home }: Place, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.promise(() => dsh(args, { cwd, env: { DSH_HOME: home, DEEPSEEK_API_KEY: "sk-test", ...env } }))

const write = (file: string, text: string): string => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

// -----------------------------------------------------------------------------
// what is wrong
// -----------------------------------------------------------------------------

const insert = (...rows: ReadonlyArray<string>) => `- insert:\n${rows.map((row) => `    - ${row}\n`).join("")}`

/** Code, what the file says, what is said of it after its name. */
const patches: ReadonlyArray<readonly [code: string, yaml: string, says: RegExp]> = [
  ["INVALID_YAML", "- { id: [", /^:\d+: the file is no YAML: .*; correct it there/],
  ["INVALID_YAML", "- id: bash\n  id: grep\n", /^:2: /],
  ["INVALID_PATCH", "", /: the file is empty; write \[\]/],
  ["INVALID_PATCH", "bash: off\n", /no list of entries; write "- "/],
  ["INVALID_PATCH", "- bash\n", /^:1: the entry is no map/],
  ["INVALID_PATCH", "- insert: bash\n", /^:1: insert is no list of rows/],
  ["INVALID_PATCH", "- { id: rules, insert: [], disabled: true }\n", /row "rules" is inserted into and changed/],
  ["INVALID_ROW", insert("{ name: x }"), /the row of x has no id; give it/],
  ["INVALID_ROW", insert("{ id: 'a/b', name: x }"), /the id "a\/b"; give it/],
  ["INVALID_ROW", insert("{ id: a }"), /row "a" names no plugin; add name/],
  ["INVALID_ROW", "- { id: fs, disabled: 1 }\n", /row "fs" is disabled: 1; write true or false/],
  ["INVALID_ROW", "- { id: shell, config: 60 }\n", /row "shell" has a config that is no map/],
  [
    "UNKNOWN_ROW_KEY",
    "- { id: shell, confg: {} }\n",
    /row "shell" has an unknown key "confg"; did you mean "config"\?/
  ],
  ["UNKNOWN_ROW_KEY", insert("{ id: a, name: x, intercept: {} }"), /"intercept"; that key belongs to another edition/],
  [
    "DUPLICATE_ID",
    insert('{ id: shell, name: "@dsh/shell/BashSandbox" }'),
    /row "shell" has the id of a row in bundle base; give it another id/
  ],
  ["INVALID_DYNAMIC", "- { id: shell, config: { timeoutMs: !!js 1+1 } }\n", /js.*; configuration is data/],
  ["INVALID_DYNAMIC", "- { id: shell, config: { timeoutMs: !env 'A B' } }\n", /!env takes the name of a variable/],
  ["INVALID_DYNAMIC", "- { id: persistence, config: { root: !home /etc } }\n", /!home takes a path under that folder/],
  [
    "UNKNOWN_PLUGIN",
    insert('{ id: a, name: "@dsh/shell/BashTol" }'),
    /row "a" names the plugin @dsh\/shell\/BashTol, which is nowhere; did you mean "@dsh\/shell\/BashTool"\?/
  ],
  ["UNKNOWN_PLUGIN", insert("{ id: a, name: weather }"), /row "a" names the plugin weather.*; add it with "dsh plugin/],
  [
    "UNKNOWN_OPTION",
    "- { id: shell, config: { timeoutMS: 5 } }\n",
    /row "shell" sets "timeoutMS".*; did you mean "timeoutMs"\?/
  ],
  ["UNKNOWN_OPTION", "- { id: fs, config: { root: / } }\n", /row "fs" sets "root".*; it takes no options/],
  [
    "INVALID_CONFIG",
    "- { id: shell, config: { timeoutMs: soon } }\n",
    /row "shell" has a config with "timeoutMs" that does not fit: Expected number, actual "soon"; correct it/
  ],
  ["INVALID_CONFIG", "- { id: shell, config: { timeoutMs: -1 } }\n", /"timeoutMs" that does not fit: .*positive/],
  ["INVALID_CONFIG", "- { id: sandbox-policy, config: { mode: everything } }\n", /"mode" that does not fit/],
  ["INVALID_CONFIG", "- { id: persistence, config: {} }\n", /"root" that does not fit: is missing/],
  [
    "INVALID_CONFIG",
    "- { id: persistence, config: { root: !env NO_SUCH } }\n",
    /"root".*is missing \(it reads NO_SUCH\)/
  ],
  [
    "MISSING_SERVICE",
    "- { id: fs, disabled: true }\n",
    /needs @dsh\/world\/Fs, which nobody provides; row "fs" \(bundle base\) provides it: enable that/
  ],
  [
    "MISSING_SERVICE",
    insert('{ id: a, name: "@dsh/terminal/TerminalTools" }'),
    /row "a" needs @dsh\/terminal\/Terminals.*; add a row of @dsh\/terminal\/TerminalsLocal/
  ],
  ["MISSING_SERVICE", "- { id: loop, disabled: true }\n", /needs @dsh\/agent\/Agents, which no row provides/],
  [
    "DUPLICATE_SERVICE",
    insert('{ id: a, name: "@dsh/world/FsLocal" }'),
    /row "a" provides @dsh\/world\/Fs, and so does row "fs" \(bundle base\); disable one/
  ],
  [
    "DUPLICATE_SERVICE",
    "- { id: persistence-sqlite, disabled: false }\n",
    /provides @dsh\/persistence\/SessionPersistence, and so does row "persistence"/
  ]
]

describe("a wrong patch", () => {
  assert.isAtLeast(patches.length, 25)
  for (const [code, yaml, says] of patches) {
    it.scopedLive(`is refused before anything runs: ${code}: ${yaml.trim().replaceAll("\n", " ⏎ ")}`, () =>
      Effect.gen(function* () {
        const at = yield* place
        const file = write(join(at.cwd, "wrong.yml"), yaml)
        const {
          code: exit,
          stderr,
          stdout
        } = yield* run(at, ["--profile", "headless", "--patch", "wrong.yml", "hello"])
        assert.deepStrictEqual([exit, stdout], [3, ""], stderr)
        assert.isTrue(stderr.startsWith(`dsh: ${code}: `), stderr)
        // A row of the product that does not fit any more is named by its bundle.
        const [, after] = stderr.split(file)
        assert.match(after ?? stderr.slice(`dsh: ${code}: `.length), says)
        assert.isFalse(existsSync(join(at.home, "sessions")))
      })
    )
  }
})

describe("a wrong profile", () => {
  const wrong: ReadonlyArray<
    readonly [name: string, args: ReadonlyArray<string>, manifest: string | undefined, says: RegExp]
  > = [
    [
      "a profile that is not there",
      ["--profile", "mine"],
      undefined,
      /^dsh: UNKNOWN_PROFILE: .*"mine".*dsh plugin --profile mine add PACKAGE/
    ],
    ["one that is mistyped", ["--profile", "headles"], undefined, /^dsh: UNKNOWN_PROFILE: .*did you mean "headless"\?/],
    ["one of another object", ["--profile", "constructor"], undefined, /^dsh: UNKNOWN_PROFILE: /],
    ["a name that is a path", ["--profile", "../x"], undefined, /^dsh: INVALID_PROFILE: .*cannot name a profile/],
    [
      "a manifest that is no JSON",
      ["--profile", "mine"],
      "{",
      /^dsh: INVALID_PROFILE: .*mine\/package\.json: is no JSON/
    ],
    [
      "a manifest without bundles",
      ["--profile", "mine"],
      "{}",
      /^dsh: INVALID_PROFILE: .*mine\/package\.json: dsh does not fit: is missing/
    ],
    [
      "a mode of reloading that is none",
      ["--profile", "mine"],
      '{"dsh":{"profile":{"bundles":[],"patchReload":"never"}}}',
      /INVALID_PROFILE: .*patchReload/
    ],
    [
      "a bundle that is nowhere",
      ["--profile", "mine"],
      '{"dsh":{"profile":{"bundles":["base","nope"]}}}',
      /^dsh: UNKNOWN_BUNDLE: .*names the bundle nope.*dsh plugin/
    ],
    [
      "a patch that is not there",
      ["--profile", "headless", "--patch", "no.yml"],
      undefined,
      /^dsh: PATCH_NOT_FOUND: .*\/work\/no\.yml: there is no such file; check/
    ],
    [
      "a profile without a surface",
      ["--profile", "web"],
      undefined,
      /^dsh: SURFACE_NOT_INSTALLED: the profile web .*; use headless/
    ]
  ]
  for (const [name, args, manifest, says] of wrong) {
    it.scopedLive(`${name} is refused with exit code 3`, () =>
      Effect.gen(function* () {
        const at = yield* place
        if (manifest !== undefined) write(join(at.home, "profiles/mine/package.json"), manifest)
        const { code, stderr, stdout } = yield* run(at, [...args, "hello"])
        assert.deepStrictEqual([code, stdout], [3, ""], stderr)
        assert.match(stderr, says)
      })
    )
  }
})

// -----------------------------------------------------------------------------
// what is right
// -----------------------------------------------------------------------------

const answering = MockLlm.make({ script: Script.respond(() => Reply.text("done")) })

interface Sent {
  readonly tools: ReadonlyArray<{ readonly function: { readonly name: string } }>
}

describe("a profile", () => {
  it.scopedLive("is changed by its own patch, that of the home folder, and the command line, in this order", () =>
    Effect.gen(function* () {
      const at = yield* place
      const timeout = (ms: number) => `- { id: shell, config: { timeoutMs: ${ms} } }\n`
      const own = write(join(at.home, "profiles/headless/dsh.patch.yml"), timeout(1000))
      const home = write(join(at.home, "dsh.patch.yml"), `${timeout(2000)}- { id: nowhere, disabled: true }\n`)
      const one = write(join(at.cwd, "one.yml"), timeout(3000))
      const two = write(join(at.cwd, "two.yml"), "[]\n")
      const foreign = write(join(at.home, "cordis.patch.yml"), "- { id: shell, disabled: true }\n")
      const args = ["--profile", "headless", "--patch", "one.yml", "--patch", "two.yml", "--dump-config"]
      const { code, stderr, stdout } = yield* run(at, args)
      assert.strictEqual(code, 0, stderr)
      assert.include(
        stdout,
        `# bundle base, patched by ${own}:1, ${home}:1, ${one}:1\n- id: shell\n  name: "@dsh/shell/BashSandbox"\n  config:\n    timeoutMs: 3000\n`
      )
      assert.notInclude(stdout, two)
      assert.include(stderr, `${foreign} belongs to another edition and is ignored; ours is called dsh.patch.yml`)
      assert.match(stderr, /dsh\.patch\.yml:2: there is no row "nowhere"; .*; the entry was skipped\n$/)
      assert.isFalse(existsSync(join(at.home, "sessions")))
      const plain = yield* run(at, ["--profile", "headless", "--dump-default-config"])
      assert.include(plain.stdout, "timeoutMs: 60000")
      assert.notInclude(plain.stdout, "patched by")
    })
  )

  it.scopedLive("is printed with dynamic values as they are written, and reads back as it was", () =>
    Effect.gen(function* () {
      const at = yield* place
      const { stdout } = yield* run(at, ["--profile", "headless", "--dump-default-config"], {
        DSH_PERMISSION_MODE: "read-only"
      })
      assert.include(stdout, "root: !home sessions")
      assert.match(stdout, /mode: !env .*DSH_PERMISSION_MODE.*workspace-write/)
      assert.notInclude(stdout, at.home)
      // All of it once more, as somebody's own bundle.
      write(join(at.home, "profiles/mine/package.json"), '{"dsh":{"profile":{"bundles":[]}}}')
      const rows = stdout
        .split("\n")
        .map((line) => `    ${line}`)
        .join("\n")
      write(join(at.home, "profiles/mine/dsh.patch.yml"), `- insert:\n${rows}\n`)
      const again = yield* run(at, ["--profile", "mine", "--dump-config"])
      const rowsOf = (text: string) => text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))
      assert.deepStrictEqual(rowsOf(again.stdout), rowsOf(stdout), again.stderr)
    })
  )

  it.scopedLive("loses a tool by a patch of its own, and a run works on", () =>
    Effect.gen(function* () {
      const at = yield* place
      const server = yield* answering
      write(
        join(at.home, "dsh.patch.yml"),
        "- { id: web, disabled: true }\n- { id: agent-presets, config: { standing: lean, folder: !home .agent-presets } }\n"
      )
      write(join(at.home, ".agent-presets/lean/agent.yml"), '- { id: read, name: "@dsh/files/ReadTool" }\n')
      const { code, stderr, stdout } = yield* run(at, ["run", "hello"], { DEEPSEEK_BASE_URL: server.url })
      assert.deepStrictEqual([code, stdout], [0, "done\n"], stderr)
      const [request] = yield* server.requests
      assert.deepStrictEqual(
        (request!.json as Sent).tools.map((tool) => tool.function.name),
        ["read"]
      )
    })
  )

  it.scopedLive("of one's own runs as headless does", () =>
    Effect.gen(function* () {
      const at = yield* place
      const server = yield* answering
      write(join(at.home, "profiles/mine/package.json"), '{"dsh":{"profile":{"bundles":["base","headless"]}}}')
      const { code, stdout } = yield* run(at, ["--profile", "mine", "hello"], { DEEPSEEK_BASE_URL: server.url })
      assert.deepStrictEqual([code, stdout], [0, "done\n"])
    })
  )
})

describe("a patch of what sessions may do", () => {
  const mode = `- id: permission-presets\n  config: { preset: danger-full-access }\n`

  it.scopedLive("does not widen what the command line allows", () =>
    Effect.gen(function* () {
      const at = yield* place
      const command = { name: "bash", arguments: { command: "touch made", description: "Makes a file" } }
      const server = yield* MockLlm.make({
        script: Script.conversation([Reply.toolCalls([command]), Reply.text("done")])
      })
      write(join(at.home, "dsh.patch.yml"), mode)
      const env = { DEEPSEEK_BASE_URL: server.url }
      yield* run(at, ["run", "--permission", "read-only", "hello"], env)
      assert.isFalse(existsSync(join(at.cwd, "made")))
      yield* run(at, ["run", "hello"], env)
      assert.isTrue(existsSync(join(at.cwd, "made")))
    })
  )
})

describe("the preset ptc", () => {
  it.scopedLive("shows the model one tool, and runs its programs over the others", () =>
    Effect.gen(function* () {
      const at = yield* place
      write(join(at.cwd, "notes.txt"), "forty-two\n")
      const code = `const { content } = await tools.read({ file_path: "notes.txt" }); return String(content ?? "").length > 0 ? "read" : "empty"`
      const program = { name: "run_code", arguments: { code, description: "Reads the notes of the folder" } }
      const server = yield* MockLlm.make({ script: Script.sequence([Reply.toolCalls([program]), Reply.text("done")]) })
      write(
        join(at.home, "dsh.patch.yml"),
        "- { id: agent-presets, config: { standing: ptc, folder: !home .agent-presets } }\n"
      )
      const {
        code: exit,
        stderr,
        stdout
      } = yield* run(at, ["run", "hello"], {
        DEEPSEEK_BASE_URL: server.url,
        DSH_PERMISSION_MODE: "danger-full-access"
      })
      assert.deepStrictEqual([exit, stdout], [0, "done\n"], stderr)
      const [first, second] = yield* server.requests
      assert.deepStrictEqual(
        (first!.json as Sent).tools.map((tool) => tool.function.name),
        ["run_code"]
      )
      const { messages } = second!.json as { readonly messages: ReadonlyArray<{ readonly content: string }> }
      assert.match(messages.at(-1)!.content, /read|empty/)
      assert.notMatch(messages.at(-1)!.content, /CODE_RUN_FAILED/)
      // What the program did is in the log, and whoever goes on with it knows what it means.
      yield* server.use(Script.sequence([Reply.text("again")]))
      const again = yield* run(at, ["run", "--continue", "go on"], { DEEPSEEK_BASE_URL: server.url })
      assert.deepStrictEqual([again.code, again.stdout], [0, "again\n"], again.stderr)
    })
  )
})
