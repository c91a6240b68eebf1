// Terminals in a process of their own: what needs them is loaded with the first, and its descriptors go with the last.
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"
import { Subprocess } from "../src/Subprocess.ts"
import * as SubprocessLocal from "../src/SubprocessLocal.ts"
import { eventually, isRunning } from "./support.ts"

// From here programs find what is no part of a bundle.
const folder = mkdtempSync(fileURLToPath(new URL("../node_modules/.dsh-pty-", import.meta.url)))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("a process without terminals", () => {
  it.runIf(process.platform === "linux")("does not pay for them", async () => {
    const { bundle } = await import("../../../scripts/bundle.mjs")
    const input = fileURLToPath(new URL("programs/FirstTerminal.ts", import.meta.url))
    const program = await bundle({ input, out: join(folder, "program") })
    assert.strictEqual(execFileSync(process.execPath, [program], { encoding: "utf8" }), "false\nfalse\ntrue\n")
  })
})

const descriptors = () => readdirSync("/dev/fd").length

/** How many of them are our ends of terminals; where that cannot be seen, none. */
const masters = () =>
  readdirSync("/dev/fd").filter((fd) => {
    try {
      return readlinkSync(`/dev/fd/${fd}`).includes("ptmx")
    } catch {
      return false
    }
  }).length

describe("terminals", () => {
  const open = Effect.flatMap(Subprocess, (subprocess) =>
    subprocess.openPty({ argv: ["bash", "--noprofile", "--norc", "-i"], cwd: "/", rows: 40, cols: 160 })
  )

  it.scopedLive("leave no descriptor and no process behind, however many there were", () =>
    Effect.gen(function* () {
      const once = Effect.gen(function* () {
        const pty = yield* open
        yield* Stream.runHead(pty.output)
        return pty.pid
      }).pipe(Effect.scoped)
      yield* once
      const before = descriptors()
      const pids = yield* Effect.replicateEffect(once, 20)
      // And some that are given up before anybody has seen them.
      for (let n = 0; n < 10; n++) {
        const opening = yield* Effect.fork(Effect.scoped(open))
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(opening)
      }
      yield* eventually(Effect.sync(() => masters() === 0))
      // Others may have opened something meanwhile.
      assert.isBelow(descriptors(), before + 15)
      for (const pid of pids) yield* eventually(Effect.sync(() => !isRunning(pid)))
    }).pipe(Effect.provide(SubprocessLocal.layer({ graceMs: 300 })))
  )
})
