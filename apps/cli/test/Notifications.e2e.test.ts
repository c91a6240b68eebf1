// The user is told that a run is over, when they want that.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const settings = (workspace: Workspace.Workspace, notifications: object) => {
  mkdirSync(workspace.home, { recursive: true })
  writeFileSync(join(workspace.home, "settings.json"), JSON.stringify({ notifications }))
}

const told = (workspace: Workspace.Workspace): object =>
  JSON.parse(readFileSync(join(workspace.project, "told"), "utf8"))

const command = ["bash", "-c", "cat > told"]

describe("dsh run, with notifications", () => {
  it.scopedLive("tells how it ended", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([Reply.text("all\ndone"), Reply.behaviour("auth_error")]))
      settings(workspace, { command })
      const done = yield* workspace.run(["run", "go"])
      assert.deepStrictEqual([done.code, done.stdout, done.stderr], [0, "all\ndone\n", ""])
      assert.deepInclude(told(workspace), {
        event: "completed",
        message: "all done",
        sessionId: workspace.sessions()[0],
        cwd: workspace.project
      })
      const failed = yield* workspace.run(["run", "--json", "go"])
      assert.strictEqual(failed.code, 3)
      assert.match(JSON.stringify(told(workspace)), /"event":"failed","message":"AUTH: /)
    })
  )

  it.scopedLive("says when that did not work, and ends as it would have", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([Reply.text("done")]))
      settings(workspace, { command: ["false"], bell: true })
      const { code, stderr, stdout } = yield* workspace.run(["run", "go"])
      assert.deepStrictEqual(
        [code, stdout, stderr],
        [0, "done\n", "dsh: the command of notifications (false) failed: exit code 1\n"]
      )
    })
  )

  it.scopedLive("tells nothing that took less than is worth it", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([Reply.text("done")]))
      settings(workspace, { command, after: 3600 })
      assert.strictEqual((yield* workspace.run(["run", "go"])).code, 0)
      assert.isFalse(existsSync(join(workspace.project, "told")))
    })
  )
})
