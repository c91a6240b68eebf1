// A chat in a real terminal, from the built command to what is to be seen on the screen.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync, existsSync } from "node:fs"
import { join } from "node:path"
import * as Pty from "./support/Pty.ts"
import * as Workspace from "./support/Workspace.ts"

const bash = (command: string) =>
  Reply.toolCalls([{ name: "bash", arguments: { command, description: "Runs a command for the test." } }])

describe("dsh chat", () => {
  it.scopedLive("multi", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.conversation([bash("echo start; while [ ! -e go ]; do sleep 0.05; done; echo over"), Reply.text("First."), Reply.text("Second.")])
      )
      const terminal = yield* Pty.open(["chat"], workspace)
      yield* terminal.until("Enter sends")
      terminal.type("line one\u001b\rline two\n")
      terminal.type("\u001b[200~pasted a\npasted b\u001b[201~")
      console.log(yield* terminal.until("pasted b"))
      terminal.type("\r")
      console.log(yield* terminal.until("working"))
      terminal.type("hurry up\r")
      console.log(yield* terminal.until("steers: hurry up"))
      terminal.type("afterwards\t")
      console.log(yield* terminal.until("queued: afterwards"))
      writeFileSync(join(workspace.project, "go"), "")
      console.log(yield* terminal.until("Second."))
      terminal.type("/per")
      console.log(yield* terminal.until("/permission"))
      terminal.type("\u0003")
      yield* terminal.until("Ctrl+C again")
      terminal.type("/permission\r")
      console.log(yield* terminal.until("Up, Down"))
      terminal.type("\u001b")
      yield* terminal.until((s) => !s.includes("Up, Down"))
      terminal.type("/model\r")
      console.log(yield* terminal.until("Up, Down"))
      terminal.type("\u001b[B\r")
      console.log(yield* terminal.until("from the next request"))
      yield* terminal.until((s) => !s.includes("Up, Down"))
      terminal.type("/help\r")
      console.log(yield* terminal.until("/usage"))
      terminal.type("look at @go")
      console.log(yield* terminal.until("→ go"))
      terminal.type("\u0003")
      terminal.type("\u0003")
      const { code } = yield* terminal.exit
      assert.strictEqual(code, 0)
      console.log(terminal.all())
    })
  )
  it.scopedLive("approve", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.conversation([bash("touch made"), bash("touch other"), Reply.text("Done.")])
      )
      mkdirSync(workspace.home)
      writeFileSync(join(workspace.home, "settings.yaml"), "permission: { rules: { ask: [bash(touch *)] } }\n")
      const terminal = yield* Pty.open(["chat"], workspace, { env: { DSH_PERMISSION_MODE: "workspace-write" } })
      yield* terminal.until("Enter sends")
      terminal.type("go\r")
      console.log(yield* terminal.until("Yes, once"))
      terminal.type("1")
      console.log(yield* terminal.until("touch other"))
      terminal.type("4")
      console.log(yield* terminal.until("Done."))
      assert.isTrue(existsSync(join(workspace.project, "made")))
      assert.isFalse(existsSync(join(workspace.project, "other")))
      terminal.type("\u0004")
      yield* terminal.exit
    })
  )
})
