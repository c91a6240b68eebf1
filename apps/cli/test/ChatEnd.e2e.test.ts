// How a chat begins and ends: where there is no terminal, when it goes away, and with every signal.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Pty from "./support/Pty.ts"
import * as Workspace from "./support/Workspace.ts"

const bash = (command: string) =>
  Reply.toolCalls([{ name: "bash", arguments: { command, description: "Runs a command for the test." } }])

/** In the middle of a command. */
const working = Effect.gen(function* () {
  const script = Script.conversation([bash("echo $$ > pid; exec sleep 1000"), Reply.text("Done.")])
  const workspace = yield* Workspace.make(script)
  const terminal = yield* Pty.open(["chat", "go"], workspace)
  const file = join(workspace.project, "pid")
  yield* terminal.until(() => existsSync(file) && readFileSync(file, "utf8").trim() !== "")
  return { terminal, workspace, pid: Number(readFileSync(file, "utf8")) }
})

const log = (workspace: Workspace.Workspace) => workspace.sessions().flatMap((id) => workspace.log(id))

const isSound = (workspace: Workspace.Workspace) =>
  Effect.gen(function* () {
    const [id = ""] = workspace.sessions()
    const check = yield* workspace.run(["session", "check", id])
    assert.strictEqual(check.code, 0, check.stdout + check.stderr)
    assert.deepInclude(log(workspace).at(-1), { type: "turn/end" })
  })

/** Gives back what was taken: pasting, the cursor, and how keys arrive. */
const isGivenBack = (raw: string): void => {
  const last = (on: string, off: string) =>
    assert.isAbove(raw.lastIndexOf(off), raw.lastIndexOf(on), `${off} of ${raw}`)
  last("\u001b[?2004h", "\u001b[?2004l")
  last("\u001b[?25l", "\u001b[?25h")
}

describe("dsh chat", () => {
  it.scopedLive("is not begun without a terminal", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.conversation([]))
      const { code, stderr, stdout } = yield* workspace.run(["chat", "hello"])
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, /^dsh: USAGE: a chat needs a terminal, .* dsh run ".*"\n$/)
      const alone = yield* workspace.run([])
      assert.deepStrictEqual([alone.code, alone.stdout], [2, ""])
      assert.include(alone.stderr, "dsh --help")
      const terminal = yield* Pty.open(["chat"], workspace, { env: { TERM: "dumb" } })
      assert.strictEqual((yield* terminal.exit).code, 2)
      assert.include(terminal.raw(), "dsh run")
    })
  )

  it.scopedLive("is what dsh alone begins in a terminal, and ends with Ctrl+C twice", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.conversation([Reply.text("Hello.")]))
      const terminal = yield* Pty.open([], workspace)
      yield* terminal.until("Enter sends")
      terminal.type("unsent\u0003")
      yield* terminal.until(/─\n *\n─+\nCtrl\+C again leaves/)
      terminal.type("x")
      yield* terminal.until((screen) => !screen.includes("Ctrl+C again"))
      terminal.type("\u0003")
      yield* terminal.until("Ctrl+C again leaves")
      terminal.type("\u0003")
      assert.strictEqual((yield* terminal.exit).code, 0)
      isGivenBack(terminal.raw())
      assert.notInclude(terminal.screen(), "─")
    })
  )

  it.scopedLive("ends what it has begun when the terminal goes away", () =>
    Effect.gen(function* () {
      const { pid, terminal, workspace } = yield* working
      yield* terminal.hangUp
      yield* terminal.exit
      yield* Pty.untilGone(terminal.pid)
      yield* Pty.untilGone(pid)
      yield* isSound(workspace)
    })
  )

  for (const [signal, code] of [
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129]
  ] as const) {
    it.scopedLive(`ends with ${signal} as every command does, and gives the terminal back`, () =>
      Effect.gen(function* () {
        const { pid, terminal, workspace } = yield* working
        terminal.kill(signal)
        assert.strictEqual((yield* terminal.exit).code, code)
        isGivenBack(terminal.raw())
        Pty.assertGone(pid)
        yield* isSound(workspace)
      })
    )
  }

  it.scopedLive("gives the terminal back while it is stopped, and goes on afterwards", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.conversation([Reply.text("Hello.")]))
      const terminal = yield* Pty.open(["chat"], workspace)
      yield* terminal.until("Enter sends")
      terminal.type("half a mess")
      yield* terminal.until("half a mess")
      terminal.type("\u001a")
      yield* Pty.untilStopped(terminal.pid)
      yield* terminal.until(() => terminal.raw().endsWith("\u001b[?2004l"))
      isGivenBack(terminal.raw())
      terminal.kill("SIGCONT")
      yield* terminal.until(/half a mess *\n─/)
      terminal.type("age\r")
      yield* terminal.until(/> half a message\n\nHello\./)
      terminal.type("\u0004")
      assert.strictEqual((yield* terminal.exit).code, 0)
      isGivenBack(terminal.raw())
    })
  )

  it.scopedLive("tells who looks elsewhere that a turn is over, as the settings say", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.conversation([Reply.text("It is **done**.")]))
      mkdirSync(workspace.home)
      const told = join(workspace.project, "told")
      const command = JSON.stringify(["sh", "-c", `printf '%s: %s' "$DSH_EVENT" "$DSH_MESSAGE" > '${told}'`])
      writeFileSync(join(workspace.home, "settings.yaml"), `notifications: { bell: true, command: ${command} }\n`)
      const terminal = yield* Pty.open(["chat", "go"], workspace)
      yield* terminal.until("It is done.")
      yield* terminal.until(() => terminal.raw().includes("\u0007"))
      yield* Pty.untilTrue(() => assert.strictEqual(readFileSync(told, "utf8"), "completed: It is **done**."))
      terminal.type("\u0004")
      assert.strictEqual((yield* terminal.exit).code, 0)
    })
  )

  it.scopedLive("says what is wrong before it takes the terminal", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.conversation([]))
      const terminal = yield* Pty.open(["chat", "--session", "session-of-nobody"], workspace)
      assert.strictEqual((yield* terminal.exit).code, 1)
      assert.include(terminal.screen().replaceAll("\n", ""), "dsh: SESSION_NOT_FOUND:")
      const nowhere = yield* Pty.open(["chat", "--profile", "headless"], workspace)
      assert.strictEqual((yield* nowhere.exit).code, 3)
      assert.include(nowhere.screen(), "dsh chat")
    })
  )
})
