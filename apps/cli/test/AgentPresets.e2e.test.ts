// What kind of agent a run is: by the flag, by its session, by the settings.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const done = Script.respond(() => Reply.text("done"))

const asked = (workspace: Workspace.Workspace) =>
  Effect.map(workspace.server.requests, (requests) => requests.map(({ request }) => request))

/** Of each session there is. */
const presets = (workspace: Workspace.Workspace) =>
  workspace.sessions().map((id) => (workspace.log(id)[0] as { readonly agentPreset?: string }).agentPreset)

describe("dsh run --preset", () => {
  it.scopedLive("minimal sends one sentence, two tools and the task, and nothing else", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(done)
      writeFileSync(join(workspace.project, "AGENTS.md"), "Say please.\n")
      const result = yield* workspace.run(["run", "--preset", "minimal", "fix", "it"])
      assert.strictEqual(result.code, 0, result.stderr)
      const [request] = yield* asked(workspace)
      assert.deepStrictEqual(
        request?.messages.map(({ role, text }) => ({ role, text })),
        [
          { role: "system", text: "You are a helpful software engineer assistant." },
          { role: "user", text: "fix it" }
        ]
      )
      assert.deepStrictEqual(
        request?.tools.map(({ name, parameters }) => [
          name,
          Object.keys((parameters as { properties: object }).properties)
        ]),
        [
          ["bash", ["command"]],
          ["str_replace_editor", ["command", "path", "file_text", "old_str", "new_str", "insert_line", "view_range"]]
        ]
      )
    })
  )

  it.scopedLive("minimal has one shell for all of a session's calls", () =>
    Effect.gen(function* () {
      const command = (text: string) => Reply.toolCalls([{ name: "bash", arguments: { command: text } }])
      const workspace = yield* Workspace.make(
        Script.respond(({ messages }) => {
          const results = messages.filter(({ role }) => role === "tool").length
          return [command("mkdir in && cd in && it=here"), command("echo $it > where")][results] ?? Reply.text("done")
        })
      )
      const result = yield* workspace.run(["run", "--preset", "minimal", "go"])
      assert.strictEqual(result.code, 0, result.stderr)
      assert.isTrue(existsSync(join(workspace.project, "in", "where")))
    })
  )

  it.scopedLive("refuses what is no preset before a session begins, and names the nearest", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(done)
      const result = yield* workspace.run(["run", "--preset", "minimum", "hi"])
      assert.deepInclude(result, { code: 3, stdout: "" })
      assert.match(
        result.stderr,
        /^dsh: PRESET_UNAVAILABLE: .*there is no preset "minimum"; did you mean "minimal"\?\n$/
      )
      assert.lengthOf(yield* asked(workspace), 0)
      assert.isFalse(existsSync(join(workspace.home, "sessions")) && workspace.sessions().length > 0)
    })
  )

  it.scopedLive("a session that goes on stays what it is, a fork of it, too", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(done)
      yield* workspace.run(["run", "--preset", "minimal", "hi"])
      const [id = ""] = workspace.sessions()
      for (const origin of [["--continue"], ["--session", id], ["--fork", id]]) {
        const other = yield* workspace.run(["run", ...origin, "--preset", "standard", "on"])
        assert.deepInclude(other, { code: 2, stdout: "" }, origin.join(" "))
        assert.match(
          other.stderr,
          /is of the preset "minimal" and stays so; leave out --preset, or start a new session/
        )
        const same = yield* workspace.run(["run", ...origin, "--preset", "minimal", "on"])
        assert.strictEqual(same.code, 0, same.stderr)
        assert.strictEqual((yield* workspace.run(["run", ...origin, "on"])).code, 0)
      }
      for (const request of yield* asked(workspace))
        assert.deepStrictEqual(request?.toolNames, ["bash", "str_replace_editor"])
      assert.lengthOf(yield* asked(workspace), 7)
      assert.deepStrictEqual(presets(workspace), ["minimal", "minimal", "minimal"])
      assert.strictEqual((yield* workspace.run(["session", "verify", id])).code, 0)
    })
  )

  it.scopedLive("the settings say what new sessions are, and nothing of those there are", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(done)
      yield* workspace.run(["run", "hi"])
      const set = (id: string) =>
        writeFileSync(join(workspace.home, "settings.yaml"), `agent-presets: { default: ${id} }\n`)
      set("minimal")
      yield* workspace.run(["run", "--continue", "on"])
      yield* workspace.run(["run", "hi"])
      yield* workspace.run(["run", "--preset", "standard", "hi"])
      const counts = (yield* asked(workspace)).map((request) => request?.toolNames.length === 2)
      assert.deepStrictEqual(counts, [false, false, true, false])

      set("mine")
      const missing = yield* workspace.run(["run", "hi"])
      assert.strictEqual(missing.code, 3)
      assert.match(missing.stderr, /there is no preset "mine".*\(it is agent-presets\.default in the settings\)/)
    })
  )

  it.scopedLive("is one of the user's own, with what it extends", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(done)
      const folder = join(workspace.home, ".agent-presets", "reader")
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, "preset.yml"), "name: Reader\nextends: minimal\n")
      writeFileSync(join(folder, "agent.yml"), '- id: read\n  name: "@dsh/files/ReadTool"\n')
      const result = yield* workspace.run(["run", "--preset", "reader", "hi"])
      assert.strictEqual(result.code, 0, result.stderr)
      assert.deepStrictEqual((yield* asked(workspace))[0]?.toolNames, ["bash", "read", "str_replace_editor"])
    })
  )

  it.scopedLive("cordis writes a preset once a rule allows it, and the next run can be of that", () =>
    Effect.gen(function* () {
      const content = '- id: read\n  name: "@dsh/files/ReadTool"\n'
      const call = { name: "preset_write", arguments: { preset: "mine", file: "agent.yml", content } }
      const workspace = yield* Workspace.make(
        Script.respond(({ messages, toolNames }) => {
          const last = messages.at(-1)
          if (last?.role === "tool") return Reply.text(last.text)
          return toolNames.includes("preset_write") ? Reply.toolCalls([call]) : Reply.text(toolNames.join(" "))
        })
      )
      const confined = { env: { DSH_PERMISSION_MODE: "workspace-write" } }
      const refused = yield* workspace.run(["run", "--preset", "cordis", "write it"], confined)
      assert.match(refused.stdout, /needs an approval and nobody is there.*dsh permission allow 'preset_write'/)
      const file = join(workspace.home, ".agent-presets", "mine", "agent.yml")
      assert.isFalse(existsSync(file))

      assert.strictEqual((yield* workspace.run(["permission", "allow", "preset_write"])).code, 0)
      const written = yield* workspace.run(["run", "--preset", "cordis", "write it"], confined)
      assert.strictEqual(written.stdout, `${file} is written.\nThe preset mine can be used.\n`)
      assert.strictEqual(readFileSync(file, "utf8"), content)
      assert.strictEqual((yield* workspace.run(["run", "--preset", "mine", "hi"], confined)).stdout, "read\n")
      for (const id of workspace.sessions()) {
        assert.strictEqual((yield* workspace.run(["session", "verify", id])).code, 0)
      }
    })
  )
})
