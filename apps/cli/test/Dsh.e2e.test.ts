import { assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import manifest from "../package.json" with { type: "json" }
import { bin, dsh } from "./support/Dsh.ts"

const versionLine = `dsh ${manifest.version} (the Effect edition of DeepSeek Harness)\n`

// The first call in a checkout builds the bundle; no test should be the one that waits for it.
beforeAll(() => dsh(["--help"]))

describe("dsh", () => {
  for (const flag of ["--version", "-V"]) {
    it(`${flag} says what it is`, async () => {
      assert.deepStrictEqual(await dsh([flag]), { code: 0, signal: null, stdout: versionLine, stderr: "" })
    })
  }

  for (const args of [["--help"], ["run", "--help"], ["--profile", "headless", "-h"], ["session", "--help"]]) {
    it(`${args.join(" ")} prints help on stdout, without colour`, async () => {
      for (const env of [{}, { NO_COLOR: "1" }, { FORCE_COLOR: "1" }]) {
        const { code, stderr, stdout } = await dsh(args, { env })
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.match(stdout, /^dsh \d.*\n\nUsage\n {2}dsh /)
        assert.notInclude(stdout, "\u001b")
      }
    })
  }

  it("prints completions", async () => {
    const { code, stdout } = await dsh(["--completions", "bash"])
    assert.strictEqual(code, 0)
    assert.include(stdout, "complete -o default -F _dsh dsh")
  })

  const misused: ReadonlyArray<readonly [args: ReadonlyArray<string>, message: string]> = [
    [[], "say what to do"],
    [["rnu", "fix it"], `did you mean "run"?`],
    [["run", ""], "the task is blank"],
    [["run"], "no task was given"],
    [["--profile", "headless"], "no task was given"],
    [["run", "--modle", "m", "fix it"], `did you mean "--model"?`],
    [["run", "fix it", "--model"], "--model needs a value"],
    [["--profile", "headless", "--patch", "--dump-config"], "--patch needs a value"],
    [["session"], "needs one of check, delete, diff, export, fork, list, repair, rewind, search, show, verify"],
    [["session", "show"], "needs its ID"],
    [["mock-llm", "--port", "http"], "--port takes a number"]
  ]
  for (const [args, message] of misused) {
    it(`refuses ${JSON.stringify(args)} with exit code 2 and one line on stderr`, async () => {
      const { code, stderr, stdout } = await dsh(args, { env: { DEEPSEEK_API_KEY: "sk-test" } })
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, /^dsh: USAGE: [^\n]+\n$/)
      assert.include(stderr, message)
    })
  }

  for (const args of [
    ["run", "fix it"],
    ["--profile", "headless", "fix it"]
  ]) {
    it(`${args.join(" ")} without a key ends with exit code 3 and one sentence`, async () => {
      const { code, stderr, stdout } = await dsh(args)
      assert.deepStrictEqual([code, stdout], [3, ""])
      assert.match(stderr, /^dsh: MISSING_CREDENTIAL: [^\n]+\n$/)
      for (const part of ["DEEPSEEK_API_KEY", "dsh run", "dsh demo"]) assert.include(stderr, part)
    })
  }

  it("survives a reader that leaves early", () => {
    const script = `"$0" "$1" --help | head -n 1; echo "\${PIPESTATUS[0]}"`
    const { stderr, stdout } = spawnSync("bash", ["-c", script, process.execPath, bin], { encoding: "utf8" })
    assert.deepStrictEqual([stdout.split("\n").slice(1), stderr], [["0", ""], ""])
  })

  it.runIf(process.platform === "linux")("reports a stdout that is full", () => {
    const { status, stderr } = spawnSync("bash", ["-c", `"$0" "$1" --help > /dev/full`, process.execPath, bin], {
      encoding: "utf8"
    })
    assert.strictEqual(status, 1)
    assert.match(stderr, /^dsh: OUTPUT: [^\n]+\n$/)
  })

  it("is an executable", () => {
    assert.match(readFileSync(bin, "utf8"), /^#!\/usr\/bin\/env node\n/)
    assert.strictEqual(spawnSync(bin, ["--version"], { encoding: "utf8" }).stdout, versionLine)
  })
})

describe("dsh mock-llm", () => {
  const endings = [
    ["SIGTERM", 0],
    ["SIGINT", 130],
    ["SIGHUP", 129]
  ] as const
  for (const [signal, expected] of endings) {
    it(`serves until ${signal}, then ends with ${expected}`, async () => {
      let status: Promise<number> | undefined
      const { code, stderr, stdout } = await dsh(["mock-llm", "--port", "0"], {
        onOutput: (child, { stdout }) => {
          if (!stdout.includes("\n")) return
          status = fetch(`${stdout.trim()}/models`).then((response) => response.status)
          void status.finally(() => child.kill(signal))
        }
      })
      assert.match(stdout, /^http:\/\/127\.0\.0\.1:\d+\n$/)
      assert.deepStrictEqual([code, stderr, await status], [expected, "", 200])
    })
  }

  it("says what is wrong with a scenario", async () => {
    const { code, stderr, stdout } = await dsh(["mock-llm", "--scenario", "no-such-file.jsonl"])
    assert.deepStrictEqual([code, stdout], [3, ""])
    assert.match(stderr, /^dsh: SCENARIO_UNREADABLE: no-such-file\.jsonl[^\n]+\n$/)
  })
})
