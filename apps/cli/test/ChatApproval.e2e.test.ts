// Questions of a chat: whether a call may be made, seen and answered in a real terminal.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Pty from "./support/Pty.ts"
import * as Workspace from "./support/Workspace.ts"

const canConfine = process.platform === "linux" && spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0

const bash = (...commands: ReadonlyArray<string>) =>
  Reply.toolCalls(
    commands.map((command) => ({ name: "bash", arguments: { command, description: "Runs a command for the test." } }))
  )

const asking = "permission: { rules: { ask: [bash(touch *), edit(*)] } }\n"

const chat = (...replies: ReadonlyArray<Reply.Reply>) =>
  Effect.gen(function* () {
    const workspace = yield* Workspace.make(Script.conversation([...replies, Reply.text("Done.")]))
    mkdirSync(workspace.home)
    writeFileSync(join(workspace.home, "settings.yaml"), asking)
    const terminal = yield* Pty.open(["chat"], workspace, { env: { DSH_PERMISSION_MODE: "workspace-write" } })
    yield* terminal.until("Enter sends")
    terminal.type("go\r")
    const isThere = (name: string) => existsSync(join(workspace.project, name))
    return { isThere, terminal, workspace }
  })

const outcomes = (workspace: Workspace.Workspace): ReadonlyArray<unknown> =>
  workspace
    .sessions()
    .flatMap((id) => workspace.log(id))
    .flatMap(({ data, type }) => (type === "approval/decided" ? [data?.["outcome"]] : []))

describe.skipIf(!canConfine)(`dsh chat asks${canConfine ? "" : ": skipped, bubblewrap is not there"}`, () => {
  it.scopedLive("before a call is made, shows it whole, and does as it is told", () =>
    Effect.gen(function* () {
      const { isThere, terminal, workspace } = yield* chat(
        bash("touch once"),
        bash("touch never"),
        bash("touch escaped")
      )
      const screen = yield* terminal.until("touch once")
      yield* terminal.until(/May bash do this\?\n {2}\$ touch once\n[\s\S]*→ 1\. Yes, once/)
      assert.notInclude(screen, "●")
      assert.isFalse(isThere("once"))
      terminal.type("1")
      yield* terminal.until(/May bash do this\?\n {2}\$ touch never/)
      assert.isTrue(isThere("once"))
      terminal.type("\u001b[B\u001b[B\u001b[B")
      yield* terminal.until("→ 4. No")
      terminal.type("\r")
      yield* terminal.until(/May bash do this\?\n {2}\$ touch escaped/)
      terminal.type("\u001b")
      const end = yield* terminal.until("Done.")
      assert.match(end, /● \$ touch once[\s\S]*✗ \$ touch never\n.*rejected[\s\S]*✗ \$ touch escaped/)
      assert.isFalse(isThere("never") || isThere("escaped"))
      assert.deepStrictEqual(outcomes(workspace), ["allowed-once", "rejected", "rejected"])
      terminal.type("\u0004")
      assert.strictEqual((yield* terminal.exit).code, 0)
    })
  )

  it.scopedLive("once for a session, and once for all, where that is the answer", () =>
    Effect.gen(function* () {
      const { isThere, terminal, workspace } = yield* chat(bash("touch one"), bash("touch one"), bash("touch two"))
      yield* terminal.until(/2\. Yes, in this session +bash\(touch one\)/)
      terminal.type("2")
      yield* terminal.until(/May bash do this\?\n {2}\$ touch two/)
      terminal.type("3")
      yield* terminal.until("Done.")
      assert.isTrue(isThere("two"))
      assert.deepStrictEqual(outcomes(workspace), ["allowed-session", "allowed-always"])
      assert.include(readFileSync(join(workspace.home, "settings.yaml"), "utf8"), "bash(touch two)")
      terminal.type("\u0004")
      yield* terminal.exit
    })
  )

  it.scopedLive("with the change to a file, one question after the other, and leaves what is being written alone", () =>
    Effect.gen(function* () {
      const write = { name: "write", arguments: { file_path: "made.txt", content: "alpha\nbeta\n" } }
      const { isThere, terminal } = yield* chat(Reply.toolCalls([write]), bash("touch a"))
      yield* terminal.until(/May write do this\?\n {2}Write made\.txt\n.*\+ alpha\n.*\+ beta/)
      terminal.type("1")
      yield* terminal.until(/May bash do this/)
      terminal.type("\u001b")
      yield* terminal.until("Done.")
      assert.isTrue(isThere("made.txt"))
      assert.isFalse(isThere("a"))
      terminal.type("\u0004")
      yield* terminal.exit
    })
  )

  it.scopedLive("not with the keys of a message that is being written", () =>
    Effect.gen(function* () {
      const wait = "while [ ! -e go ]; do sleep 0.05; done"
      const { isThere, terminal, workspace } = yield* chat(bash(wait), bash("touch a"))
      yield* terminal.until("○ $ while")
      terminal.type("in the middle of 1 sentence")
      yield* terminal.until("1 sentence")
      writeFileSync(join(workspace.project, "go"), "")
      yield* terminal.until(/May bash do this[\s\S]*in the middle of 1 sentence[\s\S]*Tab: answer the question above/)
      terminal.type(", or 2")
      yield* terminal.until(/May bash do this[\s\S]*in the middle of 1 sentence, or 2/)
      assert.isFalse(isThere("a"))
      terminal.type("\t1")
      yield* terminal.until("Done.")
      assert.isTrue(isThere("a"))
      terminal.type("\r")
      yield* terminal.until(/> in the middle of 1 sentence, or 2\n\nDone\./)
      terminal.type("\u0004")
      yield* terminal.exit
    })
  )

  it.scopedLive("and a question goes with the turn that it belongs to", () =>
    Effect.gen(function* () {
      const { terminal, workspace } = yield* chat(bash("touch a"))
      yield* terminal.until("May bash do this")
      terminal.type("\u0003\u0003")
      assert.strictEqual((yield* terminal.exit).code, 0)
      assert.deepStrictEqual(outcomes(workspace), ["cancelled"])
    })
  )
})
