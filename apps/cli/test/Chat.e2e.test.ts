// A chat in a real terminal, from the built command to what is to be seen on the screen.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Pty from "./support/Pty.ts"
import * as Workspace from "./support/Workspace.ts"

describe("dsh chat", () => {
  it.scopedLive("answers what is typed, in Markdown, and says what that took", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.conversation([Reply.text("A **bold** word.\n\n- one\n- two\n", { reasoning: "Let me think." })])
      )
      const terminal = yield* Pty.open(["chat"], workspace)
      yield* terminal.until("Enter sends")
      terminal.type("hello there\r")
      const screen = yield* terminal.until(/two[\s\S]* in\b/)
      console.log(screen)
      terminal.type("/exit\r")
      const { code } = yield* terminal.exit
      console.log(terminal.all())
      assert.strictEqual(code, 0)
    })
  )
})
