// Runs that nobody watches, and that would not come to an end of their own.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const bash = (command: string) => ({ name: "bash", arguments: { command, description: "Run a command" } })
const usage = { prompt_tokens: 900, completion_tokens: 100 }

/** A model that never has enough: each call is another one, so that nothing but a budget ends it. */
const endless = Script.conversation(
  Array.from({ length: 20 }, (_, i) => () => Reply.toolCalls([bash(`echo ${i}`)], { text: `part ${i}`, usage }))
)

const lastEnd = (workspace: Workspace.Workspace) => workspace.log(workspace.sessions()[0]!).at(-1)

const prices = (workspace: Workspace.Workspace, text: string) => {
  mkdirSync(workspace.home, { recursive: true })
  writeFileSync(join(workspace.home, "settings.yaml"), text)
}

const cheap = "prices:\n  deepseek-official/deepseek-v4-flash: { currency: USD, input: 1, output: 1 }\n"

describe("dsh run, rationed", () => {
  const cases: ReadonlyArray<readonly [args: ReadonlyArray<string>, of: string, limit: number, requests: number]> = [
    [["--max-steps", "3"], "3 steps", 3, 3],
    [["--max-tokens", "2500"], "2500 tokens", 2500, 3],
    [["--max-cost=0.0015"], "0.0015 USD", 0.0015, 2]
  ]
  for (const [args, what, limit, requests] of cases) {
    it.scopedLive(`ends after ${what}, prints what there is, and can go on`, () =>
      Effect.gen(function* () {
        const workspace = yield* Workspace.make(endless)
        prices(workspace, cheap)
        const ended = yield* workspace.run(["run", ...args, "look around"])
        assert.deepStrictEqual([ended.code, ended.stdout], [124, `part ${requests - 1}\n`], ended.stderr)
        assert.match(ended.stderr, new RegExp(`^dsh: BUDGET: the budget of ${what} is spent; .*\\n$`, "m"))
        assert.strictEqual((yield* workspace.server.requests).length, requests)
        const last = lastEnd(workspace)
        assert.strictEqual(last?.type, "turn/end")
        assert.deepInclude(last?.data?.["reason"], { kind: "aborted" })
        assert.include(JSON.stringify(last), `"limit":${limit}`)
        const on = yield* workspace.run(["run", "--max-steps=1", "--continue", "go on"])
        assert.strictEqual(on.code, 124)
        assert.strictEqual((yield* workspace.server.requests).length, requests + 1)
      })
    )
  }

  it.scopedLive("ends in the middle of an answer when time is up, and prints what was said", () =>
    Effect.gen(function* () {
      const stalled = Reply.text(["half an ", "answer"], { ending: "hold", finish: null, done: false, usage: null })
      const workspace = yield* Workspace.make(Script.sequence([stalled]))
      const ended = yield* workspace.run(["run", "--timeout=1.5", "think"])
      assert.deepStrictEqual([ended.code, ended.stdout], [124, "half an answer\n"], ended.stderr)
      assert.strictEqual(
        ended.stderr,
        `dsh: BUDGET: the budget of 1.5 seconds is spent; "dsh run --continue" goes on from here\n`
      )
      assert.include(JSON.stringify(lastEnd(workspace)), '"of":"time"')
    })
  )

  it.scopedLive("ends a command that runs when time is up", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.sequence([Reply.toolCalls([bash("echo $$ > pid; sleep 600")]), Reply.text("never")])
      )
      const ended = yield* workspace.run(["run", "--timeout", "3s", "wait"])
      assert.strictEqual(ended.code, 124, ended.stderr)
      assert.strictEqual((yield* workspace.server.requests).length, 1)
      assert.include(JSON.stringify(lastEnd(workspace)), '"of":"time"')
    })
  )

  it.scopedLive("asks no model whose price is not known when there is a budget of money", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.sequence([Reply.text("hi", { usage }), Reply.text("ho", { usage })])
      )
      const none = yield* workspace.run(["run", "--max-cost", "1", "hello"])
      assert.strictEqual(none.code, 3)
      assert.match(
        none.stderr,
        /^dsh: PRICE_UNKNOWN: there is no price of deepseek-official\/deepseek-v4-flash in USD, /
      )
      prices(workspace, cheap)
      for (const args of [
        ["--model", "deepseek-v4-pro", "--max-cost=1"],
        ["--max-cost", "1 EUR"]
      ]) {
        const other = yield* workspace.run(["run", ...args, "hello"])
        assert.strictEqual(other.code, 3)
        assert.match(other.stderr, /^dsh: PRICE_UNKNOWN: /)
      }
      assert.strictEqual((yield* workspace.server.requests).length, 0)
      const known = yield* workspace.run(["run", "--max-cost=1", "hello"])
      assert.deepStrictEqual([known.code, known.stdout], [0, "hi\n"])
      const resumed = yield* workspace.run(["run", "--continue", "--model=deepseek-v4-pro", "--max-cost=1", "hello"])
      assert.strictEqual(resumed.code, 3, resumed.stderr)
      assert.strictEqual((yield* workspace.server.requests).length, 1)
    })
  )

  it.scopedLive("refuses limits that are none before anything starts", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([]))
      for (const [args, what] of [
        [["--max-tokens=1e3"], "--max-tokens takes a whole number above 0"],
        [["--max-cost=free"], "--max-cost takes an amount above 0"],
        [["--max-cost=0"], "--max-cost takes an amount above 0"],
        [["--timeout=1d"], "--timeout takes a time"],
        [["--timeout=0s"], "--timeout takes a time"],
        [["--timeout=999999999h"], "--timeout takes a time"]
      ] as const) {
        const { code, stderr } = yield* workspace.run(["run", ...args, "hello"])
        assert.strictEqual(code, 2)
        assert.include(stderr, `dsh: USAGE: ${what}`)
      }
    })
  )
})
