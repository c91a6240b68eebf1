// A run whose profile is live: its patches are changed while it works.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const profile = (patchReload: string) =>
  JSON.stringify({
    name: "dsh-profile-mine",
    private: true,
    dependencies: {},
    dsh: { profile: { bundles: ["base", "headless"], patchReload } }
  })

const waiting = { name: "bash", arguments: { command: "until [ -e go ]; do sleep 0.05; done", description: "Wait" } }

describe("a live profile", () => {
  it.scopedLive(
    "restarts what was changed while it runs, keeps what ran while a patch is wrong, and finishes its task",
    () =>
      Effect.gen(function* () {
        let file = ""
        const workspace = yield* Workspace.make(
          Script.respond(({ messages }) => {
            if (messages.some(({ role }) => role === "tool")) return Reply.text("done")
            writeFileSync(file, "- id: [\n")
            return Reply.toolCalls([waiting])
          })
        )
        const folder = join(workspace.home, "profiles", "mine")
        mkdirSync(folder, { recursive: true })
        writeFileSync(join(folder, "package.json"), profile("live"))
        file = join(folder, "dsh.patch.yml")
        const steps: ReadonlyArray<readonly [said: RegExp, then: () => void]> = [
          [
            /stays as it was: .*dsh\.patch\.yml:\d+: the file is no YAML/,
            () => writeFileSync(file, "- id: spill\n  config: { maxInlineBytes: 1000 }\n")
          ],
          [/the composition has changed: restarted .*spill/, () => writeFileSync(join(workspace.project, "go"), "")]
        ]
        let done = 0
        const result = yield* workspace.run(["--profile", "mine", "wait"], {
          onOutput: (_, { stderr }) => {
            const step = steps[done]
            if (step === undefined || !step[0].test(stderr)) return
            done++
            step[1]()
          }
        })
        assert.strictEqual(result.code, 0, result.stderr)
        assert.strictEqual(result.stdout, "done\n")
        assert.strictEqual(done, steps.length, result.stderr)
      })
  )
})
