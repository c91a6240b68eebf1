// What terminals need is loaded with the first of them.
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"

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
