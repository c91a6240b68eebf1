// An agent that is held to rules, with real commands and real files.
import { Agents } from "@dsh/agent/Agents"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { FileSystem } from "@effect/platform"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Approval from "../src/Approval.ts"
import * as Grants from "../src/Grants.ts"
import * as PermissionRules from "../src/PermissionRules.ts"
import * as PermissionRulesFile from "../src/PermissionRulesFile.ts"
import type { Effects } from "../src/Rules.ts"
import { ask, bash, done, folder, given, make, ofType, results, world } from "./support.ts"

const { Reply } = LlmScripted

const rules = (lists: Partial<Record<Effects, ReadonlyArray<string>>>) => PermissionRules.layerMemory(given(lists))

const answered = (...outcomes: ReadonlyArray<Approval.Outcome>) => {
  const left = [...outcomes]
  return Approval.AnswerApproval.hook("test", () => Effect.sync(() => left.shift() ?? "unavailable"))
}

const decisions = (session: Parameters<typeof ofType>[0]) =>
  ofType(session, "permission/decision").map(({ data }) => `${data.decision} ${data.toolName}: ${data.reason}`)

const write = (path: string) => Reply.calls([{ name: "write", arguments: { file_path: path, content: "x" } }])

describe("an agent under rules", () => {
  it.scopedLive(
    "does what they allow, is told what they deny and by which rule, and what nobody could be asked about",
    () =>
      Effect.gen(function* () {
        const agent = yield* make({ cwd: yield* folder })
        yield* ask(agent)
        assert.deepStrictEqual(results(agent.session), [
          "hello",
          `Error: "rm -rf x" is denied by the rule bash(rm *) (the settings)`,
          `Error: this call needs an approval and nobody is there to give it (no rule allows "whoami"; the user can allow it: dsh permission allow 'bash(whoami)')`
        ])
        assert.deepStrictEqual(decisions(agent.session), [
          `deny bash: "rm -rf x" is denied by the rule bash(rm *) (the settings)`,
          `ask bash: no rule allows "whoami"; the user can allow it: dsh permission allow 'bash(whoami)'`
        ])
        const denied = ofType(agent.session, "permission/decision").map(
          ({ data }) => `${data.callId} by ${data.rule} of ${data.origin}`
        )
        assert.strictEqual(denied[0], "call-1 by bash(rm *) of the settings")
      }).pipe(
        Effect.provide(
          world(
            [bash("echo hello", "echo x && rm -rf x", "whoami"), done],
            rules({ allow: ["bash(echo *)"], deny: ["bash(rm *)"] })
          )
        )
      )
  )

  it.scopedLive("does everything without rules, and does not even look at it", () =>
    Effect.gen(function* () {
      const agent = yield* make({ cwd: yield* folder })
      yield* ask(agent)
      assert.deepStrictEqual(results(agent.session), ["x"])
      assert.deepStrictEqual(decisions(agent.session), [])
    }).pipe(Effect.provide(world([bash("eval 'echo x'"), done], rules({}))))
  )

  it.scopedLive(
    "does everything that is not forbidden when nothing is allowed expressly, as far as it can be told",
    () =>
      Effect.gen(function* () {
        const agent = yield* make({ cwd: yield* folder })
        yield* ask(agent)
        const [first, second, third] = results(agent.session)
        assert.strictEqual(first, "x")
        assert.include(second, "denied by the rule bash(rm *)")
        assert.include(third, "it cannot be told what this command runs")
      }).pipe(
        Effect.provide(
          world([bash("echo x > f; cat f", "sh -c 'rm f'", "f() { ls; }; f"), done], rules({ deny: ["bash(rm *)"] }))
        )
      )
  )

  it.scopedLive("is judged by where a file really is", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const [outside, cwd] = [yield* folder, yield* folder]
      yield* fs.makeDirectory(`${cwd}/src`)
      yield* fs.symlink(outside, `${cwd}/src/out`)
      const agent = yield* make({ cwd })
      yield* ask(agent)
      const [inside, link, up, plain, redirected, elsewhere] = results(agent.session)
      assert.include(inside, "(created")
      for (const refused of [link, up, plain]) assert.include(refused, "no rule allows changing")
      assert.include(redirected, "")
      assert.isTrue(yield* fs.exists(`${cwd}/src/echo.txt`))
      assert.include(elsewhere, "no rule allows changing src/out/echo.txt")
      assert.deepStrictEqual(yield* fs.readDirectory(outside), [])
    }).pipe(
      Effect.provide(
        world(
          [
            write("src/new.txt"),
            write("src/out/new.txt"),
            write("src/../new.txt"),
            write("new.txt"),
            bash("echo x > src/echo.txt"),
            bash("echo x > src/out/echo.txt"),
            done
          ],
          rules({ allow: ["edit(src/**)", "bash(echo *)"] })
        )
      )
    )
  )

  it.scopedLive("may not write what a rule names, by a link, by a command, or by another tool", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* folder
      yield* fs.writeFileString(`${cwd}/.env`, "old")
      yield* fs.symlink(`${cwd}/.env`, `${cwd}/link`)
      const agent = yield* make({ cwd })
      yield* ask(agent)
      for (const result of results(agent.session)) assert.include(result, "is denied by the rule edit(.env)")
      assert.strictEqual(yield* fs.readFileString(`${cwd}/.env`), "old")
    }).pipe(
      Effect.provide(
        world(
          [write(".env"), write("link"), write("sub/.env"), bash("echo x > .env", "echo x >> link"), done],
          rules({ deny: ["edit(.env)"] })
        )
      )
    )
  )

  it.scopedLive("reaches the hosts that a rule names and no others", () =>
    Effect.gen(function* () {
      const agent = yield* make({ cwd: yield* folder })
      yield* ask(agent)
      const outcomes = results(agent.session).map((text) => (text.startsWith("fetched") ? "allow" : "deny"))
      assert.deepStrictEqual(outcomes, ["allow", "allow", "deny", "deny", "deny", "deny"])
    }).pipe(
      Effect.provide(
        world(
          [
            Reply.calls(
              [
                "https://example.com/a",
                "https://docs.Example.org./b",
                "https://example.com.evil.net/",
                "https://example.com@evil.net/",
                "https://a.example.com/",
                "no address"
              ].map((url, i) => ({ name: "web_fetch", id: `call-${i}`, arguments: { url } }))
            ),
            done
          ],
          rules({ allow: ["web_fetch(domain:example.com)", "web_fetch(domain:*.example.org)"] })
        )
      )
    )
  )
})

describe("a rule for commands", () => {
  it.scopedLive("holds for the workspace, not for the same command elsewhere", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* folder
      yield* fs.makeDirectory(`${cwd}/sub`)
      yield* fs.symlink("/tmp", `${cwd}/out`)
      const agent = yield* make({ cwd })
      yield* ask(agent)
      const [inside, outside, link] = results(agent.session)
      assert.include(inside, `${cwd}/sub`)
      assert.include(outside, "/tmp is outside the workspace")
      assert.include(link, "out is outside the workspace")
    }).pipe(
      Effect.provide(
        world(
          [
            Reply.calls(
              ["sub", "/tmp", "out"].map((workdir, i) => ({
                name: "bash",
                id: `call-${i}`,
                arguments: { command: "pwd", description: "Says where it is.", workdir }
              }))
            ),
            done
          ],
          rules({ allow: ["bash(pwd)"] })
        )
      )
    )
  )
})

describe("an answer", () => {
  const asked = rules({ allow: ["bash(true)"] })
  const twice = [bash("whoami"), bash("whoami"), done]
  const ran = (texts: ReadonlyArray<string>) => texts.map((text) => !text.startsWith("Error"))

  it.scopedLive("holds once", () =>
    Effect.gen(function* () {
      const agent = yield* make({ cwd: yield* folder })
      yield* ask(agent)
      assert.deepStrictEqual(ran(results(agent.session)), [true, false])
    }).pipe(Effect.provide(world(twice, asked, answered("allowed-once", "rejected"))))
  )

  it.scopedLive("holds for the session and for what inherits its log, and no longer than it is not revoked", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const agent = yield* make({ cwd })
      yield* ask(agent)
      assert.deepStrictEqual(ran(results(agent.session)), [true, true])
      assert.deepStrictEqual(
        ofType(agent.session, "permission/grant").map(({ data }) => [data.rule, data.callId?.toString()]),
        [["bash(whoami)", "call-0"]]
      )
      const script = yield* LlmScripted.Script
      const agents = yield* Agents
      const options = { provider: LlmScripted.provider, model: LlmScripted.model, source: agent.id }

      yield* script.add(bash("whoami"), done)
      const fork = yield* agents.fork(options)
      yield* ask(fork)
      assert.deepStrictEqual(ran(results(fork.session)), [true, true, true])

      yield* script.add(bash("whoami"), done)
      const before = yield* agents.fork({ ...options, at: ofType(agent.session, "turn/start")[0]!.seq - 1 })
      yield* ask(before)
      assert.deepStrictEqual(ran(results(before.session)), [false])

      yield* script.add(bash("whoami"), done)
      assert.isTrue(yield* Grants.revoke(agent.session, "bash(whoami)"))
      yield* ask(agent)
      assert.deepStrictEqual(ran(results(agent.session)), [true, true, false])
    }).pipe(Effect.provide(world(twice, asked, answered("allowed-session"))))
  )

  it.scopedLive("holds for exactly what was asked, with all that it writes", () =>
    Effect.gen(function* () {
      const agent = yield* make({ cwd: yield* folder })
      yield* ask(agent)
      assert.deepStrictEqual(ran(results(agent.session)), [true, true, false, false])
    }).pipe(
      Effect.provide(
        world(
          [bash("whoami > f; cat f"), bash("whoami > f; cat f"), bash("whoami > g; cat f"), bash("whoami"), done],
          asked,
          answered("allowed-session")
        )
      )
    )
  )

  it.scopedLive("about a file holds for that file, and for none of its name elsewhere", () =>
    Effect.gen(function* () {
      const agent = yield* make({ cwd: yield* folder })
      yield* ask(agent)
      assert.deepStrictEqual(ran(results(agent.session)), [true, true, false])
    }).pipe(
      Effect.provide(
        world(
          [write("a[1].txt"), write("a[1].txt"), write("sub/a[1].txt"), done],
          rules({ allow: ["edit(none)"] }),
          answered("allowed-session")
        )
      )
    )
  )

  it.scopedLive("outlasts a rule that asks, and gives way to one that denies", () =>
    Effect.gen(function* () {
      const agent = yield* make({ cwd: yield* folder })
      yield* ask(agent)
      assert.deepStrictEqual(ran(results(agent.session)), [true, true])
      yield* (yield* PermissionRules.PermissionRules).add("deny", given({ deny: ["bash(whoami *)"] })[0]!.rule)
      yield* (yield* LlmScripted.Script).add(bash("whoami"), done)
      yield* ask(agent)
      assert.deepStrictEqual(ran(results(agent.session)), [true, true, false])
    }).pipe(Effect.provide(world(twice, rules({ ask: ["bash(whoami *)"] }), answered("allowed-session"))))
  )

  it.scopedLive("for good is a rule in the settings, where other sessions find it", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const home = yield* folder
      const settings = `${home}/settings.yaml`
      yield* fs.writeFileString(settings, "# mine\npermission:\n  rules:\n    allow:\n      - bash(true)\n")
      const file = PermissionRulesFile.layer({ folder: home, home })
      yield* Effect.gen(function* () {
        const agent = yield* make({ cwd: yield* folder })
        yield* ask(agent)
        assert.deepStrictEqual(ran(results(agent.session)), [true, true])
        yield* (yield* LlmScripted.Script).add(bash("whoami"), done)
        const other = yield* make({ cwd: yield* folder })
        yield* ask(other)
        assert.deepStrictEqual(ran(results(other.session)), [true])
      }).pipe(Effect.scoped, Effect.provide(world(twice, file, answered("allowed-always"))))
      assert.strictEqual(
        yield* fs.readFileString(settings),
        "# mine\npermission:\n  rules:\n    allow:\n      - bash(true)\n      - bash(whoami)\n"
      )
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )
})
