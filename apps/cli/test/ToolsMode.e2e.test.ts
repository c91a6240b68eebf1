// Tools for programs, on the command line: what the model is told, what a program does in a real folder, and what it may not do there.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const program = (code: string) =>
  Reply.toolCalls([{ name: "run_code", arguments: { code, description: "Does it for the test." } }])

const bodies = (workspace: Workspace.Workspace) =>
  Effect.map(workspace.server.requests, (requests) =>
    requests.map(
      ({ body }) =>
        JSON.parse(String(body)) as { readonly tools: ReadonlyArray<{ readonly function: { readonly name: string } }> }
    )
  )

describe("DSH_TOOLS_MODE", () => {
  it.scopedLive("ptc: a program reads, is denied a command, goes on, and all of it can be verified", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.conversation([
          program(`const { lines } = await tools.read({ file_path: "notes.txt" })
            const command = (command: string) => tools.bash({ command, description: "Runs it." })
            await command("rm notes.txt").catch((error) => console.log(error.toolName, error.message))
            const made = await command("echo made > made.txt; cat made.txt")
            return [lines.map(({ text }) => text), made.output]`),
          Reply.text("done")
        ])
      )
      mkdirSync(workspace.home, { recursive: true })
      writeFileSync(
        join(workspace.home, "settings.yaml"),
        "permission: { rules: { allow: [bash(echo *), bash(cat *), read(*), edit(*)], deny: [bash(rm *)] } }\n"
      )
      writeFileSync(join(workspace.project, "notes.txt"), "one\ntwo\n")
      const { code, stderr, stdout } = yield* workspace.run(["run", "go"], { env: { DSH_TOOLS_MODE: "ptc" } })
      assert.deepStrictEqual([code, stdout], [0, "done\n"], stderr)
      const [first, second] = yield* bodies(workspace)
      assert.deepStrictEqual(
        first?.tools.map((tool) => tool.function.name),
        ["run_code"]
      )
      const last = JSON.stringify(second)
      assert.include(last, "is denied by the rule bash(rm *)")
      assert.include(last, "made")
      assert.isTrue(existsSync(join(workspace.project, "notes.txt")))
      assert.isTrue(existsSync(join(workspace.project, "made.txt")))
      const [id = ""] = workspace.sessions()
      const calls = workspace.log(id).filter(({ type }) => type === "tool/code-dispatch")
      assert.lengthOf(calls, 3)
      assert.strictEqual((yield* workspace.run(["session", "verify", id])).code, 0)
      assert.strictEqual((yield* workspace.run(["session", "check", id])).code, 0)
    })
  )

  it.scopedLive("both: the tools and programs; and a session goes on without programs", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.conversation([program("return 6 * 7"), Reply.text("done"), Reply.text("again")])
      )
      assert.strictEqual((yield* workspace.run(["run", "go"], { env: { DSH_TOOLS_MODE: "both" } })).code, 0)
      assert.strictEqual((yield* workspace.run(["run", "--continue", "on"])).code, 0)
      const [first, second, third] = yield* bodies(workspace)
      const names = (body: typeof first) => body?.tools.map((tool) => tool.function.name) ?? []
      assert.includeMembers(names(first), ["run_code", "bash", "read"])
      assert.include(JSON.stringify(second), "42")
      assert.notInclude(names(third), "run_code")
    })
  )

  it.scopedLive("anything else ends it before it begins", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.conversation([]))
      const { code, stderr } = yield* workspace.run(["run", "go"], { env: { DSH_TOOLS_MODE: "code" } })
      assert.strictEqual(code, 3)
      assert.match(stderr, /INVALID_CONFIG: DSH_TOOLS_MODE is "code"; it is one of native, ptc, both/)
    })
  )
})
