// A key that is typed in a real terminal is kept, and is nowhere on the screen.
import { spawn } from "@lydell/node-pty"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bin } from "./support/Dsh.ts"

/** Types a line when the command asks for it; gives all that was on the screen, and how the command ended. */
const typing = (args: ReadonlyArray<string>, home: string, line: string) =>
  Effect.async<{ readonly screen: string; readonly code: number }>((resume) => {
    const { DEEPSEEK_API_KEY: _, ...env } = process.env
    const terminal = spawn(process.execPath, [bin, ...args], { env: { ...env, DSH_HOME: home }, cwd: home, cols: 200 })
    let screen = ""
    let isTyped = false
    terminal.onData((text) => {
      screen += text
      if (isTyped || !screen.includes("it is not shown")) return
      isTyped = true
      terminal.write(line)
    })
    terminal.onExit(({ exitCode }) => resume(Effect.succeed({ screen, code: exitCode })))
    return Effect.sync(() => terminal.kill())
  })

const home = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "dsh-hidden-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

describe("dsh credentials set in a terminal", () => {
  it.scopedLive("asks, shows nothing of what is typed, and keeps it", () =>
    Effect.gen(function* () {
      const folder = yield* home
      const { code, screen } = yield* typing(["credentials", "set", "EXA_API_KEY"], folder, "exa-secret\r")
      assert.strictEqual(code, 0, screen)
      assert.match(screen, /dsh: EXA_API_KEY \(it is not shown\): \r\n.*EXA_API_KEY is kept from now on/)
      assert.notInclude(screen, "secret")
      assert.include(readFileSync(join(folder, ".credentials.yaml"), "utf8"), "EXA_API_KEY: exa-secret")
    })
  )

  it.scopedLive("ends with Ctrl+C as every command does, and keeps nothing", () =>
    Effect.gen(function* () {
      const folder = yield* home
      const { code, screen } = yield* typing(["credentials", "set", "EXA_API_KEY"], folder, "exa-secret\u0003")
      assert.strictEqual(code, 130, screen)
      assert.notInclude(screen, "secret")
    })
  )
})
