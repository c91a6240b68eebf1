// A run that a program reads: every way it can end is a line of JSON, and nothing else is on stdout.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { read } from "./support/JsonLines.ts"
import * as Workspace from "./support/Workspace.ts"

const bash = (command: string) => ({ name: "bash", arguments: { command, description: "Run a command" } })
const held = { ending: "hold", finish: null, done: false, usage: null } as const

const lastEnd = (workspace: Workspace.Workspace) => {
  const last = workspace.log(workspace.sessions()[0]!).at(-1)
  return [last?.type, (last?.data?.["reason"] as { readonly kind: string } | undefined)?.kind]
}

describe("dsh run --json", () => {
  it.scopedLive("tells what is done, and the result with what it used and cost", () =>
    Effect.gen(function* () {
      const usage = { prompt_tokens: 100, prompt_cache_hit_tokens: 25, completion_tokens: 10 }
      const workspace = yield* Workspace.make(
        Script.sequence([
          Reply.toolCalls([bash("echo one; exit 3")], { reasoning: "Look first.", text: "I look.", usage }),
          Reply.behaviour("server_error"),
          Reply.text("all done", { usage })
        ])
      )
      mkdirSync(workspace.home)
      writeFileSync(
        join(workspace.home, "settings.yaml"),
        "prices:\n  deepseek-official/deepseek-v4-flash: { currency: USD, input: 1, output: 1 }\n"
      )
      const { code, stderr, stdout } = yield* workspace.run(["run", "--json", "look"], {
        env: { DSH_MAX_RETRIES: "1" }
      })
      assert.strictEqual(code, 0, stderr)
      assert.match(stderr, /^dsh: retry 1 of 1 in .*\n$/)
      const { lines, result } = read(stdout)
      assert.deepStrictEqual(
        lines.map(({ type }) => type),
        [
          "start",
          "reasoning",
          "message",
          "tool-call",
          "tool-result",
          "notice",
          "retry",
          "message",
          "turn-end",
          "result"
        ]
      )
      const [start, thought, said, call, ran] = lines
      assert.deepInclude(start, {
        version: 1,
        sessionId: workspace.sessions()[0]!,
        cwd: workspace.project,
        resumed: false
      })
      assert.deepInclude(thought, { text: "Look first.", turn: 1, step: 1 })
      assert.deepInclude(said, { text: "I look.", interrupted: false })
      assert.deepInclude(call, { name: "bash" })
      assert.deepInclude(ran, { name: "bash", ok: true, code: null })
      assert.deepInclude(result, { status: "completed", exitCode: 0, answer: "all done", unfinishedJobs: [] })
      assert.deepInclude(result.usage, {
        requests: 3,
        unreported: 1,
        inputTokens: 150,
        cacheReadTokens: 50,
        outputTokens: 20
      })
      assert.closeTo(result.cost.amounts["USD"] ?? 0, 0.00022, 1e-9)
      assert.strictEqual(result.cost.unknown, 1)
      assert.deepStrictEqual(result.toolCalls, { total: 1, denied: 0 })
      const again = yield* workspace.run(["run", "--json", "--session", result.sessionId ?? "", "and?"], {})
      assert.deepInclude(read(again.stdout).lines[0], { resumed: true, sessionId: result.sessionId })
    })
  )

  const failures: ReadonlyArray<
    readonly [
      what: string,
      script: ReadonlyArray<Reply.Reply>,
      args: ReadonlyArray<string>,
      env: Readonly<Record<string, string>>,
      result: {
        readonly exitCode: number
        readonly code: string
        readonly status: string
        readonly hasSession: boolean
      }
    ]
  > = [
    [
      "a refused key",
      [Reply.behaviour("auth_error")],
      [],
      {},
      { exitCode: 3, code: "AUTH", status: "failed", hasSession: true }
    ],
    [
      "no key",
      [],
      [],
      { DEEPSEEK_API_KEY: "" },
      { exitCode: 3, code: "MISSING_CREDENTIAL", status: "failed", hasSession: false }
    ],
    [
      "an unknown model",
      [Reply.error(400, { message: "Model Not Exist", type: "invalid_request_error" })],
      ["--model", "nobody"],
      {},
      { exitCode: 1, code: "INVALID_REQUEST", status: "failed", hasSession: true }
    ],
    [
      "an unknown session",
      [],
      ["--session", "nope"],
      {},
      { exitCode: 1, code: "SESSION_NOT_FOUND", status: "failed", hasSession: false }
    ],
    [
      "no session to go on with",
      [],
      ["--continue"],
      {},
      { exitCode: 1, code: "SESSION_NOT_FOUND", status: "failed", hasSession: false }
    ],
    [
      "a limit that is none",
      [],
      ["--max-steps=0"],
      {},
      { exitCode: 2, code: "USAGE", status: "failed", hasSession: false }
    ],
    [
      "an unknown preset",
      [],
      ["--preset", "nobody"],
      {},
      { exitCode: 3, code: "PRESET_UNAVAILABLE", status: "failed", hasSession: false }
    ],
    [
      "an overflow",
      [Reply.behaviour("context_overflow")],
      [],
      {},
      { exitCode: 1, code: "CONTEXT_WINDOW_EXCEEDED", status: "failed", hasSession: true }
    ],
    [
      "a spent budget",
      [Reply.toolCalls([bash("true")])],
      ["--max-steps=1"],
      {},
      { exitCode: 124, code: "BUDGET", status: "budget", hasSession: true }
    ]
  ]
  for (const [what, script, args, env, { code: expected, exitCode, hasSession, status }] of failures) {
    it.scopedLive(`ends with a result for ${what}`, () =>
      Effect.gen(function* () {
        const workspace = yield* Workspace.make(Script.sequence(script, "last"))
        const { code, stderr, stdout } = yield* workspace.run(["run", "--json", ...args, "go"], { env })
        const { result } = read(stdout)
        assert.deepStrictEqual([code, result.exitCode, result.status], [exitCode, exitCode, status], stdout)
        assert.strictEqual(result.error?.code, expected)
        assert.strictEqual(result.sessionId !== null, hasSession)
        assert.include(stderr, `dsh: ${expected}: `)
      })
    )
  }

  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129]
  ] as const) {
    it.scopedLive(`ends with a result after ${signal}, and the session goes on`, () =>
      Effect.gen(function* () {
        const script = [Reply.toolCalls([bash("echo > began; sleep 600")]), Reply.text("back")]
        const workspace = yield* Workspace.make(Script.sequence(script))
        const ended = yield* workspace.run(["run", "--json", "go"], {
          onOutput: (child, { stdout }) => {
            if (stdout.includes('"tool-call"')) child.kill(signal)
          }
        })
        const { result } = read(ended.stdout)
        assert.deepStrictEqual([ended.code, result.exitCode, result.status], [code, code, "cancelled"])
        assert.strictEqual(result.error?.code, "CANCELLED")
        assert.deepStrictEqual(lastEnd(workspace), ["turn/end", "aborted"])
        const next = yield* workspace.run(["run", "--json", "--session", result.sessionId ?? "", "go on"])
        assert.deepInclude(read(next.stdout).result, { status: "completed", answer: "back" })
      })
    )
  }

  it.scopedLive("keeps what was said when it is cut off", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([Reply.text(["half ", "an answer"], held)]))
      const ended = yield* workspace.run(["run", "--json", "--timeout=1.5", "go"])
      const { lines, result } = read(ended.stdout)
      assert.deepInclude(result, { status: "budget", exitCode: 124, answer: "half an answer" })
      assert.deepInclude(
        lines.find(({ type }) => type === "message"),
        { interrupted: true }
      )
    })
  )
})
