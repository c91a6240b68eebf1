// What files of the user and the project want is told to the agent, and nothing else is told by way of them.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const done = Script.respond(() => Reply.text("done"))

const texts = (workspace: Workspace.Workspace) =>
  Effect.map(workspace.server.requests, (requests) =>
    (requests.at(-1)?.request?.messages ?? []).map(({ text }) => text)
  )

describe("dsh run, where there are instructions", () => {
  it.scopedLive("tells them behind the prompt, and again only when they change", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(done)
      mkdirSync(workspace.home)
      writeFileSync(join(workspace.home, "AGENTS.md"), "Answer in rhymes.")
      writeFileSync(join(workspace.project, "AGENTS.md"), "Tests run with make.")
      assert.strictEqual((yield* workspace.run(["run", "--check-invariants", "hi"])).code, 0)
      const first = yield* texts(workspace)
      assert.strictEqual(first[1], "hi")
      assert.match(first[2] ?? "", /<system-reminder>[^]*Answer in rhymes\.[^]*Tests run with make\./)
      yield* workspace.run(["run", "--continue", "on"])
      assert.lengthOf(
        (yield* texts(workspace)).filter((text) => text.includes("rhymes")),
        1
      )
      writeFileSync(join(workspace.home, "AGENTS.md"), "Answer in prose.")
      yield* workspace.run(["run", "--continue", "on"])
      const last = (yield* texts(workspace)).at(-1) ?? ""
      assert.match(last, /was changed[^]*Answer in prose\./)
      assert.notInclude(last, "make")
      const [id = ""] = workspace.sessions()
      assert.strictEqual((yield* workspace.run(["session", "verify", id])).code, 0)
      assert.strictEqual((yield* workspace.run(["session", "check", id])).code, 0)
    })
  )

  for (const preset of ["read-only", "workspace-write"]) {
    it.scopedLive(`in mode ${preset} reads no key by way of a link`, () =>
      Effect.gen(function* () {
        const workspace = yield* Workspace.make(done)
        mkdirSync(workspace.home)
        writeFileSync(join(workspace.home, ".credentials.yaml"), "sk-secret", { mode: 0o600 })
        symlinkSync("../home/.credentials.yaml", join(workspace.project, "AGENTS.md"))
        writeFileSync(join(workspace.project, "CLAUDE.md"), "Be kind.")
        const { code, stderr } = yield* workspace.run(["run", "--permission", preset, "hi"])
        assert.strictEqual(code, 0, stderr)
        const all = (yield* texts(workspace)).join("\n")
        assert.include(all, "Be kind.")
        assert.notInclude(all, "sk-secret")
      })
    )
  }
})
