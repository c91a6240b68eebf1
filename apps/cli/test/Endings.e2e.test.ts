// Runs that are ended from outside, or whose readers go away.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { read } from "./support/JsonLines.ts"
import { sh } from "./support/Shell.ts"
import * as Workspace from "./support/Workspace.ts"

const bash = (command: string) => ({ name: "bash", arguments: { command, description: "Run a command" } })
const held = { ending: "hold", finish: null, done: false, usage: null } as const

const lastEnd = (workspace: Workspace.Workspace) => {
  const last = workspace.log(workspace.sessions()[0]!).at(-1)
  return [last?.type, (last?.data?.["reason"] as { readonly kind: string } | undefined)?.kind]
}

const goesOn = (workspace: Workspace.Workspace) =>
  Effect.gen(function* () {
    const [id = ""] = workspace.sessions()
    const next = yield* workspace.run(["run", "--session", id, "--check-invariants", "go on"])
    assert.deepStrictEqual([next.code, next.stdout, next.stderr], [0, "back\n", ""])
  })

describe("dsh run, ended from outside", () => {
  const places: ReadonlyArray<readonly [where: string, first: Reply.Reply, sign: string, partial: string]> = [
    [
      "an answer",
      Reply.text(["half ", "an answer"], { ...held, reasoning: "Hm." }),
      "dsh: reasoning: Hm.",
      "half an answer\n"
    ],
    [
      "the wait for a retry",
      Reply.error(429, { message: "slow down" }, { "retry-after": "100" }),
      "in 100.0 s: RATE_LIMIT",
      ""
    ]
  ]
  for (const [where, first, sign, partial] of places) {
    it.scopedLive(`in the middle of ${where} closes its log, prints what there is, and can go on`, () =>
      Effect.gen(function* () {
        const workspace = yield* Workspace.make(Script.sequence([first, Reply.text("back")]))
        const ended = yield* workspace.run(["run", "go"], {
          env: { DSH_MAX_RETRIES: "5" },
          onOutput: (child, { stderr }) => {
            if (stderr.includes(sign)) child.kill("SIGINT")
          }
        })
        assert.strictEqual(ended.code, 130)
        // What has not arrived before the signal is not there.
        assert.isTrue(partial.startsWith(ended.stdout.trimEnd()), ended.stdout)
        assert.deepStrictEqual(lastEnd(workspace), ["turn/end", "aborted"])
        yield* goesOn(workspace)
      })
    )
  }

  it.scopedLive("ends at once at the second signal, with its result, and can go on", () =>
    Effect.gen(function* () {
      const stubborn = Reply.toolCalls([bash("trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done")])
      const workspace = yield* Workspace.make(Script.sequence([stubborn, Reply.text("back")]))
      const ended = yield* workspace.run(["run", "--json", "go"], {
        onOutput: (child, { stdout }) => {
          if (!stdout.includes('"tool-call"') || child.killed) return
          child.kill("SIGINT")
          child.kill("SIGTERM")
        }
      })
      assert.include([130, 143], ended.code)
      const { result } = read(ended.stdout)
      assert.deepStrictEqual([result.status, result.exitCode], ["cancelled", ended.code])
      const file = join(workspace.project, "pid")
      if (existsSync(file)) process.kill(Number(readFileSync(file, "utf8")), "SIGKILL")
      yield* goesOn(workspace)
    })
  )
})

describe("dsh run, when its reader goes away", () => {
  it.scopedLive("goes on to its end, quietly", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.sequence([Reply.toolCalls([bash("touch done")]), Reply.text("a\n".repeat(200_000))])
      )
      const { stderr, stdout } = yield* sh(
        workspace,
        `dsh run --json go | head -1 > first; echo "\${PIPESTATUS[0]}"; ls`
      )
      assert.deepStrictEqual([stdout, stderr], ["0\ndone\nfirst\n", ""])
      assert.deepStrictEqual(lastEnd(workspace), ["turn/end", "completed"])
    })
  )
})
