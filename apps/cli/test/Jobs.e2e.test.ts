// Commands in the background of a run: the agent hears of their end, and none outlives the run.
import * as ChatRequest from "@dsh/testing/ChatRequest"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const bash = (command: string, more: object = {}) => ({
  name: "bash",
  arguments: { command, description: "Do it", ...more }
})
const inBackground = { run_in_background: true }

describe("dsh run, with jobs", () => {
  it.scopedLive("tells the agent when a job is over, and what it printed", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.sequence([
          Reply.toolCalls([bash("while [ ! -e go ]; do sleep 0.02; done; echo finished; touch ended", inBackground)]),
          // The end of the job is heard of a moment after.
          Reply.toolCalls([bash("touch go; while [ ! -e ended ]; do sleep 0.02; done; sleep 1")]),
          Reply.toolCalls([{ name: "job_output", arguments: { job_id: "bash-1" } }]),
          Reply.text("done")
        ])
      )
      const { code, stderr } = yield* workspace.run(["run", "work"])
      assert.strictEqual(code, 0, stderr)
      const requests = yield* workspace.server.requests
      const started = requests[1]?.request
      assert.strictEqual(started && ChatRequest.pendingResults(started)[0]?.text, "started background job bash-1")
      const notice = requests[2]?.request?.messages.at(-1)?.text
      assert.match(notice ?? "", /^The background job bash-1 \(while .*\) is over: completed, exit code 0\./)
      const output = requests[3]?.request
      assert.strictEqual(
        output && ChatRequest.pendingResults(output)[0]?.text,
        "finished\n[status: completed, exit code 0]"
      )
      const [id = ""] = workspace.sessions()
      const verified = yield* workspace.run(["session", "verify", id])
      assert.strictEqual(verified.code, 0, verified.stdout)
    })
  )

  it.scopedLive("leaves none behind", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.sequence([
          Reply.toolCalls([bash("echo $$ > pid; exec sleep 600", inBackground)]),
          Reply.toolCalls([bash("while [ ! -s pid ]; do sleep 0.02; done")]),
          Reply.text("done")
        ])
      )
      const { code } = yield* workspace.run(["run", "work"])
      assert.strictEqual(code, 0)
      const pid = readFileSync(join(workspace.project, "pid"), "utf8").trim()
      assert.isFalse(existsSync(`/proc/${pid}`))
    })
  )
})
