// Rules on the command line: what a run may do, what it says when it may not, and how rules come and go.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const bash = (...commands: ReadonlyArray<string>) =>
  Reply.toolCalls(
    commands.map((command) => ({ name: "bash", arguments: { command, description: "Runs a command for the test." } }))
  )

const settings = (workspace: Workspace.Workspace) => join(workspace.home, "settings.yaml")

const given = (workspace: Workspace.Workspace, text: string) => {
  mkdirSync(workspace.home, { recursive: true })
  writeFileSync(settings(workspace), text)
}

/** What the model was told last. */
const told = (workspace: Workspace.Workspace) =>
  Effect.map(workspace.server.requests, (requests) => String(requests.at(-1)?.body))

const rules = `# mine
permission:
  rules:
    allow:
      - bash(echo *)
      - bash(git log *)
    deny:
      - bash(rm *)
`

describe("rules on the command line", () => {
  it.scopedLive("let a run do what they allow, and say to people and to the model why the rest is not done", () =>
    Effect.gen(function* () {
      const script = Script.conversation([
        bash("echo kept > /dev/null && echo one", "rm -rf keep", "touch new"),
        Reply.text("done")
      ])
      const workspace = yield* Workspace.make(script)
      writeFileSync(join(workspace.project, "keep"), "")
      given(workspace, rules)
      const { code, stderr, stdout } = yield* workspace.run(["run", "go"])
      assert.deepStrictEqual([code, stdout], [0, "done\n"])
      const denied = `bash: "rm -rf keep" is denied by the rule bash(rm *) (${settings(workspace)})`
      const asked = `no rule allows "touch new"; the user can allow it: dsh permission allow 'bash(touch new)'`
      assert.include(stderr, `dsh: PERMISSION_DENIED: ${denied}\n`)
      assert.include(stderr, `dsh: APPROVAL_REJECTED: bash: ${asked}\n`)
      assert.isTrue(existsSync(join(workspace.project, "keep")))
      assert.isFalse(existsSync(join(workspace.project, "new")))
      const last = yield* told(workspace)
      assert.include(last, "is denied by the rule bash(rm *)")
      assert.include(last, "this call needs an approval and nobody is there to give it (no rule allows")
      const [id = ""] = workspace.sessions()
      const types = workspace.log(id).map(({ type }) => type)
      for (const type of ["permission/decision", "approval/asked", "approval/decided"]) assert.include(types, type)
      assert.strictEqual((yield* workspace.run(["session", "verify", id])).code, 0)
    })
  )

  it.scopedLive("come and go", () =>
    Effect.gen(function* () {
      const script = Script.conversation([bash("echo x > made.txt; cat made.txt"), Reply.text("done")])
      const workspace = yield* Workspace.make(script)
      given(workspace, rules)
      const made = join(workspace.project, "made.txt")
      const permission = (...args: ReadonlyArray<string>) => workspace.run(["permission", ...args])
      const run = Effect.map(workspace.run(["run", "go"]), () => existsSync(made))

      assert.isFalse(yield* run)
      for (const rule of ["bash(cat *)", "edit(made.txt)"]) {
        const { code, stderr } = yield* permission("allow", rule)
        assert.deepStrictEqual([code, stderr], [0, `dsh: ${rule} is allowed from now on\n`])
      }
      assert.isTrue(yield* run)
      assert.strictEqual(
        readFileSync(settings(workspace), "utf8"),
        rules.replace("(git log *)\n", "(git log *)\n      - bash(cat *)\n      - edit(made.txt)\n")
      )

      yield* Effect.sync(() => writeFileSync(made, "old\n"))
      assert.strictEqual((yield* permission("revoke", "bash(cat *)")).code, 0)
      yield* run
      assert.strictEqual(readFileSync(made, "utf8"), "old\n")
      const gone = yield* permission("revoke", "bash(cat *)")
      assert.strictEqual(gone.code, 1)
      assert.match(gone.stderr, /^dsh: RULE_NOT_FOUND: .*dsh permission list/)

      yield* permission("allow", "bash(cat *)")
      yield* permission("deny", "bash(cat made.txt)")
      yield* run
      assert.strictEqual(readFileSync(made, "utf8"), "old\n")
    })
  )

  it.scopedLive("are listed with where they come from, those of the project and of a session, too", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.conversation([Reply.text("done")]))
      const empty = yield* workspace.run(["permission", "list"])
      assert.deepStrictEqual(
        [empty.code, empty.stdout, empty.stderr],
        [0, "", "dsh: there are no rules, so tools may do anything\n"]
      )
      given(workspace, "permission: { rules: { allow: [bash(ls *)] } }\n")
      mkdirSync(join(workspace.project, ".dsh"))
      const project = join(workspace.project, ".dsh", "permissions.yaml")
      writeFileSync(project, "allow: [bash(make)]\ndeny: [read(.env)]\n")
      const list = yield* workspace.run(["permission", "list"])
      const [first, second, ...protecting] = list.stdout.trimEnd().split("\n")
      assert.strictEqual(first, `allow  bash(ls *)  (${settings(workspace)})`)
      assert.strictEqual(second, `deny   read(.env)  (${project})`)
      assert.lengthOf(protecting, 2)
      assert.include(list.stderr, `what ${project} allows is ignored`)

      yield* workspace.run(["run", "go"])
      const [id = ""] = workspace.sessions()
      const folder = workspace.log(id).length
      const file = readLog(workspace, id)
      appendFileSync(
        file,
        `${JSON.stringify({ type: "permission/grant", seq: folder - 1, time: 1, data: { rule: "bash(=id; id)" }, ignorable: true })}\n`
      )
      const json = yield* workspace.run(["permission", "list", "--json", "--session", id])
      const last = json.stdout.trimEnd().split("\n").at(-1) ?? ""
      assert.deepStrictEqual(JSON.parse(last), { effect: "allow", rule: "bash(=id; id)", origin: `session ${id}` })
      assert.strictEqual((yield* workspace.run(["permission", "revoke", "--session", id, "bash(=id; id)"])).code, 0)
      const after = yield* workspace.run(["permission", "list", "--json", "--session", id])
      assert.notInclude(after.stdout, "bash(=id; id)")
    })
  )

  it.scopedLive("that were granted for a session are kept by it when it goes on, and by no other", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.conversation([Reply.text("hello"), bash("touch granted.txt"), Reply.text("done")])
      )
      given(workspace, rules)
      const made = join(workspace.project, "granted.txt")
      yield* workspace.run(["run", "first"])
      const [id = ""] = workspace.sessions()
      const grant = {
        type: "permission/grant",
        seq: workspace.log(id).length - 1,
        time: 1,
        data: { rule: "bash(touch granted.txt)" },
        ignorable: true
      }
      appendFileSync(readLog(workspace, id), `${JSON.stringify(grant)}\n`)
      const { stderr } = yield* workspace.run(["run", "--session", id, "second"])
      assert.isTrue(existsSync(made), stderr)
      rmSync(made)
      yield* workspace.run(["run", "first"])
      const other = yield* workspace.run(["run", "--continue", "second"])
      assert.include(other.stderr, "APPROVAL_REJECTED")
      assert.isFalse(existsSync(made))
    })
  )

  it.scopedLive("that are wrong end a run before it begins, with the place", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.conversation([Reply.text("done")]))
      given(workspace, rules.replace("bash(rm *)", "bash(rm"))
      const { code, stderr } = yield* workspace.run(["run", "go"])
      assert.strictEqual(code, 3)
      assert.include(
        stderr,
        `dsh: SETTINGS_INVALID: ${settings(workspace)}:8:9: permission.rules.deny[0] bash(rm is no rule`
      )
      assert.strictEqual((yield* workspace.server.requests).length, 0)
      const usage = yield* workspace.run(["permission", "allow", "bash()"])
      assert.strictEqual(usage.code, 2)
      assert.match(usage.stderr, /^dsh: USAGE: "bash\(\)" says nothing in its parentheses/)
    })
  )
})

const readLog = (workspace: Workspace.Workspace, id: string): string => {
  const root = join(workspace.home, "sessions")
  const folder = readdirSync(root).find((name) => existsSync(join(root, name, id))) ?? ""
  return join(root, folder, id, "session.jsonl")
}
