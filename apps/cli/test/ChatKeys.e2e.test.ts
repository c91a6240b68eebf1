// The keyboard of a terminal that tells keys apart which others cannot, as far as a chat uses it.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Pty from "./support/Pty.ts"
import * as Workspace from "./support/Workspace.ts"

describe("dsh chat", () => {
  it.scopedLive("uses the keyboard protocol of kitty where there is one, and gives it back", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.conversation([Reply.text("Hello.")]))
      const terminal = yield* Pty.open(["chat"], workspace)
      yield* terminal.until("Enter sends")
      assert.include(terminal.raw(), "\u001b[?u")
      terminal.type("\u001b[?0u")
      yield* terminal.until(() => terminal.raw().includes("\u001b[>1u"))
      terminal.type("one\u001b[13;2utwo")
      yield* terminal.until(/─\none *\ntwo *\n─/)
      terminal.type("\r")
      yield* terminal.until("Hello.")
      terminal.type("\u001b[99;5u")
      yield* terminal.until("Ctrl+C again leaves")
      terminal.type("\u001b[99;5u")
      assert.strictEqual((yield* terminal.exit).code, 0)
      assert.include(terminal.raw(), "\u001b[<u")
    })
  )
})
