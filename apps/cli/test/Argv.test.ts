import { assert, describe, it } from "@effect/vitest"
import * as Argv from "../src/Argv.ts"

const parse = (line: ReadonlyArray<string>) => Argv.parse(line)

const invocation = (
  command: string,
  words: ReadonlyArray<string> = [],
  options: Record<string, string> = {},
  flags: ReadonlyArray<string> = []
) => ({
  _tag: "Invocation",
  command,
  options,
  flags,
  words
})

const launched = (profile: string, patches: ReadonlyArray<string>, ...rest: Parameters<typeof invocation>) => ({
  ...invocation(...rest),
  launch: { profile, patches }
})

const accepted: ReadonlyArray<readonly [line: ReadonlyArray<string>, parsed: unknown]> = [
  [["run", "fix", "it"], invocation("run", ["fix", "it"])],
  [["run"], invocation("run")],
  [["run", "fix", "--model", "m", "it"], invocation("run", ["fix", "it"], { "--model": "m" })],
  [["run", "--model=m", "fix"], invocation("run", ["fix"], { "--model": "m" })],
  [["run", "--model=-m", "fix"], invocation("run", ["fix"], { "--model": "-m" })],
  [["run", "--session", "s", "fix"], invocation("run", ["fix"], { "--session": "s" })],
  [["run", "fix", "--continue", "it"], invocation("run", ["fix", "it"], {}, ["--continue"])],
  [["run", "--", "--model", "-h"], invocation("run", ["--model", "-h"])],
  [["run", "fix", "--", "--", "it"], invocation("run", ["fix", "--", "it"])],
  [["run", "- a list\n- of things", "-5", "-"], invocation("run", ["- a list\n- of things", "-5", "-"])],
  [["run", "run"], invocation("run", ["run"])],
  [["--profile", "headless", "fix", "it"], launched("headless", [], "run", ["fix", "it"])],
  [["--profile=headless", "--model", "m", "fix"], launched("headless", [], "run", ["fix"], { "--model": "m" })],
  [["--profile", "headless", "--", "fix"], launched("headless", [], "run", ["fix"])],
  [
    ["--profile", "mine", "--patch", "a.yml", "--patch=b.yml", "fix"],
    launched("mine", ["a.yml", "b.yml"], "run", ["fix"])
  ],
  [["--profile", "mine", "--patch", "a", "--", "fix"], launched("mine", ["a"], "run", ["fix"])],
  [
    ["--profile", "mine", "--patch", "a", "--dump-config"],
    { _tag: "Dump", launch: { profile: "mine", patches: ["a"] }, own: true }
  ],
  [
    ["--profile", "web", "--dump-default-config"],
    { _tag: "Dump", launch: { profile: "web", patches: [] }, own: false }
  ],
  [["plugin", "add", "x", "--save-dev"], invocation("plugin", ["add", "x", "--save-dev"])],
  [
    ["plugin", "--profile", "mine", "remove", "-D", "x"],
    invocation("plugin", ["remove", "-D", "x"], { "--profile": "mine" })
  ],
  [["demo"], invocation("demo")],
  [["doctor", "--json"], invocation("doctor", [], {}, ["--json"])],
  [["config", "--profile=mine", "--json"], invocation("config", [], { "--profile": "mine" }, ["--json"])],
  [["session", "list"], invocation("session list")],
  [["preset", "validate"], invocation("preset validate")],
  [["preset", "copy", "a", "b"], invocation("preset copy", ["a", "b"])],
  [["session", "show", "list"], invocation("session show", ["list"])],
  [["session", "verify", "--", "-x"], invocation("session verify", ["-x"])],
  [
    ["mock-llm", "--scenario", "s.jsonl", "--port", "0"],
    invocation("mock-llm", [], { "--scenario": "s.jsonl", "--port": "0" })
  ],
  [["--help"], { _tag: "Help", page: "dsh" }],
  [["-h"], { _tag: "Help", page: "dsh" }],
  [["run", "fix", "-h"], { _tag: "Help", page: "run" }],
  [["--profile", "headless", "--help"], { _tag: "Help", page: "run" }],
  [["session", "--help"], { _tag: "Help", page: "session" }],
  [["session", "show", "--help"], { _tag: "Help", page: "session show" }],
  [["help"], { _tag: "Help", page: "dsh" }],
  [["help", "run"], { _tag: "Help", page: "run" }],
  [["help", "session"], { _tag: "Help", page: "session" }],
  [["help", "session", "show"], { _tag: "Help", page: "session show" }],
  [["help", "exit-codes"], { _tag: "HelpTopic", topic: "exit-codes" }],
  [["--completions", "zsh"], { _tag: "Completions", shell: "zsh" }],
  [["--completions=bash"], { _tag: "Completions", shell: "bash" }]
]

const refused: ReadonlyArray<readonly [line: ReadonlyArray<string>, message: RegExp]> = [
  [["help", "exit-code"], /^there is no help about "exit-code"; did you mean "exit-codes"\?$/],
  [["help", "sesion", "show"], /^there is no help about "sesion show"; did you mean "session show"\?$/],
  [[], /^say what to do/],
  [["rn", "fix"], /^"rn" is no command of dsh; did you mean "run"\?$/],
  [
    ["frobnicate"],
    /it knows run, chat, batch, demo, config, credentials, doctor, models, permission, plugin, preset, session, settings, mock-llm, help$/
  ],
  [["--verson"], /^--verson is no option of "dsh"; did you mean "--version"\?$/],
  [["--model", "m", "run", "fix"], /^--model is no option of "dsh"; it goes after the command: dsh run --model$/],
  [["run", ""], /^the task is blank/],
  [["run", " ", "\n"], /^the task is blank/],
  [["--profile", "headless", " "], /^the task is blank/],
  [["run", "--modle", "m", "fix"], /^--modle is no option of "dsh run"; did you mean "--model"\? .*goes after --\)$/],
  [
    ["run", "fix", "--frmat=json"],
    /^--frmat is no option of "dsh run"; it knows --cwd, --file, .*--wait-background, --help /
  ],
  [["run", "--continue=yes", "fix"], /^--continue takes no value$/],
  [["run", "--continue", "--continue", "fix"], /^--continue was given twice$/],
  [["run", "--continue", "--session", "s", "fix"], /^--session, --continue and --fork exclude each other/],
  [["--continue", "run", "fix"], /^--continue is no option of "dsh"; it goes after the command: dsh run --continue$/],
  [["run", "fix", "-x"], /^-x is no option of "dsh run"/],
  [["run", "fix", "--model"], /^--model needs a value: --model ID$/],
  [["run", "--model=", "fix"], /^--model needs a value/],
  [["run", "--model", "", "fix"], /^--model needs a value/],
  [["run", "--model", "--", "fix"], /^--model needs a value/],
  [["run", "--model", "--help"], /^--model needs a value/],
  [["run", "--model", "a", "--model", "b", "fix"], /^--model was given twice$/],
  [["run", "--constructor", "fix"], /^--constructor is no option/],
  [["--profile"], /^--profile needs a value: --profile NAME$/],
  [["--profile", "--help"], /^--profile needs a value/],
  [["--profile", "mine", "fix", "--patch", "x"], /^--patch is no option of "dsh run"/],
  [["--profile", "mine", "--patch", "a", "--", "--patch", "b"], /^--patch is no option of "dsh run"/],
  [["--profile", "mine", "--patch"], /^--patch needs a value: --patch FILE$/],
  [["--profile", "mine", "--patch", "--dump-config"], /^--patch needs a value/],
  [["--profile", "mine", "--dump-config=yes"], /^--dump-config takes no value$/],
  [["--profile", "mine", "--dump-config", "--dump-default-config"], /exclude each other$/],
  [["--profile", "mine", "--dump-config", "fix"], /^--dump-config takes nothing behind it, not "fix"$/],
  [["--profile", "mine", "--patch", "x", "--dump-default-config"], /without any --patch; use --dump-config$/],
  [["plugin"], /^"dsh plugin" needs something to do: add PACKAGE$/],
  [["plugin", "--profile", "mine"], /^"dsh plugin" needs something to do/],
  [["plugin", "--patch", "x", "add", "y"], /^--patch is no option of "dsh plugin"/],
  [["--profiles", "headless"], /^--profiles is no option of "dsh"; did you mean "--profile"\?$/],
  [["--completions"], /one of bash, fish, sh, zsh$/],
  [["--completions", "powershell"], /one of bash, fish, sh, zsh$/],
  [["--wizard"], /^--wizard is no option of "dsh"/],
  [["demo", "now"], /^"dsh demo" takes no "now"$/],
  [["demo", "--fast"], /^--fast is no option of "dsh demo"; it knows --help$/],
  [
    ["session"],
    /^"dsh session" needs one of check, delete, diff, export, fork, list, repair, rewind, search, show, verify$/
  ],
  [["session", "ls"], /^"ls" is no command of "dsh session"; did you mean "list"\?$/],
  [["session", "--all"], /^"--all" is no option of "dsh session"/],
  [["session", "show"], /^"dsh session show" needs its ID$/],
  [["preset", "copy"], /^"dsh preset copy" needs its FROM$/],
  [["preset", "copy", "a"], /^"dsh preset copy" needs its TO$/],
  [["preset", "copy", "a", "b", "c"], /^"dsh preset copy" takes no "c"$/],
  [["preset", "validate", "a", "b"], /^"dsh preset validate" takes no "b"$/],
  [["session", "show", "a", "b"], /^"dsh session show" takes one ID, not also "b"$/]
]

describe("Argv", () => {
  for (const [line, parsed] of accepted) {
    it(`understands: dsh ${line.join(" ")}`, () => assert.deepStrictEqual(parse(line), parsed as Argv.Parsed))
  }
  for (const [line, message] of refused) {
    it(`refuses: dsh ${JSON.stringify(line)}`, () => {
      const parsed = parse(line)
      assert.strictEqual(parsed._tag, "Usage")
      assert.match(parsed._tag === "Usage" ? parsed.message : "", message)
    })
  }
})
