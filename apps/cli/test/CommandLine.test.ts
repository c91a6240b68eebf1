import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Argv from "../src/Argv.ts"
import * as CommandLine from "../src/CommandLine.ts"
import { examples } from "../src/Examples.ts"
import { commands } from "../src/Grammar.ts"
import type { CommandName } from "../src/Grammar.ts"
import * as Help from "../src/Help.ts"
import * as Request from "../src/Request.ts"
import { topics } from "../src/Topics.ts"
import type { Topic } from "../src/Topics.ts"

const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer)

const fullLane = (invocation: Argv.Invocation) =>
  Effect.runPromise(
    CommandLine.parse(Argv.canonical(invocation)).pipe(
      Effect.map((request) => Request.launched(request, invocation.launch)),
      Effect.provide(platform)
    )
  )

/** Words that a careless parser takes for something else, among arbitrary ones. */
const word = FastCheck.oneof(
  FastCheck.constantFrom(
    "run",
    "demo",
    "session",
    "list",
    "--",
    "-h",
    "--help",
    "--version",
    "--wizard",
    "--model",
    "-"
  ),
  FastCheck.constantFrom("--log-level", "--completions", "bash", "--model=x", "-x", "- a", "-5", "", " ", "fix", "it"),
  FastCheck.string()
)
const line = FastCheck.tuple(
  FastCheck.constantFrom(["run"], ["--profile", "headless"], ["--profile=headless"]),
  FastCheck.array(word, { maxLength: 6 })
).map(([head, rest]) => [...head, ...rest])

describe("the two lanes", () => {
  it("agree on every line that the short one accepts", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(line, async (args) => {
        const parsed = Argv.parse(args)
        const request = Request.fastLane(parsed)
        FastCheck.pre(parsed._tag === "Invocation" && request !== undefined)
        assert.deepStrictEqual(await fullLane(parsed), request)
      }),
      { numRuns: 500 }
    ))

  it("agree on a task that was given in every way at once", async () => {
    const parsed = Argv.parse(["--profile", "headless", "fix", "--model=m", "--", "--model", "-h", "run"])
    assert.strictEqual(parsed._tag, "Invocation")
    const expected = {
      _tag: "Run",
      words: ["fix", "--model", "-h", "run"],
      model: "m",
      from: { _tag: "New" },
      limits: { maxSteps: undefined, maxTokens: undefined, maxCost: undefined, timeout: undefined },
      cwd: undefined,
      file: undefined,
      outputSchema: undefined,
      outputRetries: undefined,
      permission: undefined,
      preset: undefined,
      checkInvariants: false,
      usage: false,
      json: false,
      waitBackground: false,
      launch: { profile: "headless", patches: [] }
    } as const
    assert.deepStrictEqual(Request.fastLane(parsed), expected)
    if (parsed._tag === "Invocation") assert.deepStrictEqual(await fullLane(parsed), expected)
  })

  for (const [args, from] of [
    [["--continue"], { _tag: "Last" }],
    [["--session", "s"], { _tag: "Session", id: "s" }],
    [["--fork", "s"], { _tag: "Fork", id: "s", at: undefined }],
    [["--fork=s@12"], { _tag: "Fork", id: "s", at: 12 }],
    [["--fork", "s@12x"], { _tag: "Fork", id: "s@12x", at: undefined }],
    [["--fork", "a@b@3"], { _tag: "Fork", id: "a@b", at: 3 }]
  ] as const) {
    it(`agree on ${args.join(" ")}`, async () => {
      const parsed = Argv.parse(["run", ...args, "go on"])
      const expected = {
        _tag: "Run",
        words: ["go on"],
        model: undefined,
        from,
        limits: { maxSteps: undefined, maxTokens: undefined, maxCost: undefined, timeout: undefined },
        cwd: undefined,
        file: undefined,
        outputSchema: undefined,
        outputRetries: undefined,
        permission: undefined,
        preset: undefined,
        checkInvariants: false,
        usage: false,
        json: false,
        waitBackground: false
      } as const
      assert.deepStrictEqual(Request.fastLane(parsed), expected)
      assert.strictEqual(parsed._tag, "Invocation")
      if (parsed._tag === "Invocation") assert.deepStrictEqual(await fullLane(parsed), expected)
    })
  }
})

const expected: Readonly<Record<CommandName, Request.Request>> = {
  run: {
    _tag: "Run",
    words: ["a", "b"],
    model: "7",
    from: { _tag: "Session", id: "7" },
    limits: { maxSteps: "7", maxTokens: "7", maxCost: "7", timeout: "7" },
    cwd: "7",
    file: "7",
    outputSchema: "7",
    outputRetries: "7",
    permission: "7",
    preset: "7",
    checkInvariants: false,
    usage: false,
    json: false,
    waitBackground: false
  },
  chat: {
    _tag: "Chat",
    words: ["a", "b"],
    model: "7",
    from: { _tag: "Session", id: "7" },
    permission: "7",
    preset: "7",
    profile: "7"
  },
  batch: {
    _tag: "Batch",
    file: "a",
    concurrency: "7",
    retry: "7",
    timeout: "7",
    maxCost: "7",
    isolate: "7",
    model: "7",
    permission: "7",
    preset: "7",
    out: "7",
    resume: false
  },
  config: { _tag: "Config", profile: "7", json: false },
  demo: { _tag: "Demo" },
  doctor: { _tag: "Doctor", profile: "7", json: false },
  "credentials list": { _tag: "CredentialsList", json: false },
  "credentials set": { _tag: "CredentialsSet", name: "a" },
  "credentials unset": { _tag: "CredentialsUnset", name: "a" },
  models: { _tag: "Models", json: false },
  "permission allow": { _tag: "PermissionAdd", effect: "allow", rule: "a" },
  "permission deny": { _tag: "PermissionAdd", effect: "deny", rule: "a" },
  "permission list": { _tag: "PermissionList", json: false, session: "7" },
  "permission revoke": { _tag: "PermissionRevoke", rule: "a", session: "7" },
  plugin: { _tag: "Plugin", profile: "7", args: ["add", "x", "--y"] },
  "preset copy": { _tag: "PresetCopy", from: "a", to: "b" },
  "preset list": { _tag: "PresetList", json: false },
  "preset remove": { _tag: "PresetRemove", id: "a", yes: false },
  "preset show": { _tag: "PresetShow", id: "a", json: false },
  "preset validate": { _tag: "PresetValidate", preset: "a" },
  "session check": { _tag: "SessionCheck", id: "a", json: false },
  "session delete": { _tag: "SessionDelete", id: "a", yes: false },
  "session diff": { _tag: "SessionDiff", id: "a", at: undefined, json: false },
  "session export": { _tag: "SessionExport", id: "a" },
  "session fork": { _tag: "SessionFork", id: "a", at: undefined },
  "session list": { _tag: "SessionList", json: false },
  "session repair": { _tag: "SessionRepair", id: "a" },
  "session rewind": {
    _tag: "SessionRewind",
    id: "a",
    at: undefined,
    files: false,
    conversation: false,
    dryRun: false,
    force: false,
    yes: false
  },
  "session search": { _tag: "SessionSearch", text: "a", json: false },
  "session show": { _tag: "SessionShow", id: "a" },
  "session verify": { _tag: "SessionVerify", id: "a" },
  "settings edit": { _tag: "SettingsEdit" },
  "settings get": { _tag: "SettingsGet", path: "a", json: false },
  "settings set": { _tag: "SettingsSet", path: "a", value: "b" },
  "settings unset": { _tag: "SettingsUnset", path: "a" },
  "mock-llm": { _tag: "MockLlm", port: 7, scenario: "7" }
}

describe("CommandLine", () => {
  for (const command of Object.keys(commands) as ReadonlyArray<CommandName>) {
    it.effect(`gives "${command}" the options and words of the grammar`, () =>
      Effect.gen(function* () {
        const { options, words } = commands[command]
        const args = [
          ...command.split(" "),
          // A run has one beginning.
          ...Object.keys(options).flatMap((name) => (name === "--fork" ? [] : [name, "7"])),
          ...(words._tag === "Some"
            ? ["a", "b"].slice(0, words.names.length)
            : { None: [], One: ["a"], Task: ["a", "b"], Rest: ["add", "x", "--y"] }[words._tag])
        ]
        const parsed = Argv.parse(args)
        assert.strictEqual(parsed._tag, "Invocation")
        if (parsed._tag === "Invocation") {
          assert.deepStrictEqual(yield* CommandLine.parse(Argv.canonical(parsed)), expected[command])
        }
      }).pipe(Effect.provide(platform))
    )
  }

  for (const port of ["x", "1.5", "-1", "65536", "1e2x"]) {
    it.effect(`refuses --port ${port}`, () =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(CommandLine.parse(["mock-llm", "--port", port]))
        assert.deepInclude(failure, { code: "USAGE", exitCode: 2, message: "--port takes a number from 0 to 65535" })
      }).pipe(Effect.provide(platform))
    )
  }
})

describe("Help", () => {
  const settings = { version: "1.2.3", color: false }

  it("shows a command with its whole path, its options and nothing else", () => {
    assert.strictEqual(
      Help.render("config", settings),
      `dsh 1.2.3, the Effect edition of DeepSeek Harness

Usage
  dsh config [--profile NAME] [--json]

Description
  Say what is in force here, and where it comes from. Values of keys are never shown.

Options
  --profile NAME
      The profile to look at. Default: headless.
  --json
      One JSON object.

Examples
  dsh config                # what holds here, and where it is said
  dsh config --json | jq .  # for a program`
    )
    assert.include(Help.render("session show", settings), "\n  dsh session show <ID>\n")
    assert.include(Help.render("session", settings), "\n  dsh session COMMAND\n")
  })

  it("has examples for every command, and each is one that is understood", () => {
    for (const [name, all] of Object.entries(examples)) {
      assert.isAbove(all.length, 0, name)
      for (const { line } of all) {
        assert.include(Help.render(name as CommandName, settings), line)
        // What stands before and behind a pipe is somebody else's.
        const own = line.split(" | ").find((part) => /(^|\s)dsh /.test(part)) ?? ""
        const words =
          own
            .replace(/^.*?dsh /, "")
            .replace(/ > .*$/, "")
            .match(/'[^']*'|"[^"]*"|\S+/g) ?? []
        const parsed = Argv.parse(words.map((word) => word.replaceAll(/^['"]|['"]$/g, "")))
        assert.isTrue(parsed._tag === "Invocation" && parsed.command === name, line)
      }
    }
  })

  it("knows topics", () => {
    for (const name of Object.keys(topics) as ReadonlyArray<Topic>) assert.isNotEmpty(Help.topic(name, settings))
    assert.include(Help.topic("exit-codes", settings), "\n  124 ")
  })

  it("lists every command and variable on the first page", () => {
    const page = Help.render("dsh", settings)
    for (const command of Object.keys(commands)) assert.include(page, `\n  ${command}`)
    for (const name of ["DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL", "DSH_HOME", "--profile headless"])
      assert.include(page, name)
  })

  it("has escape sequences only when colour is wanted", () => {
    assert.notInclude(Help.render("dsh", settings), "\u001b")
    assert.include(Help.render("dsh", { ...settings, color: true }), "\u001b[1mUsage\u001b[0m")
  })
})
