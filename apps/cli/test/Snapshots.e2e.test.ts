// Every folder under `snapshots` is a program: see support/Snapshot.ts for how they are compared, refreshed and recorded.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { pinned } from "./support/Normalise.ts"
import * as Snapshot from "./support/Snapshot.ts"

const root = fileURLToPath(new URL("snapshots", import.meta.url))
const mode = Snapshot.mode(process.env)

/** The scenario that shows what the model is told; it is read by people whenever a prompt or a tool changes. */
const shown = "repair"
const scenarios = readdirSync(root).sort((a, b) => Number(b === shown) - Number(a === shown))

const expected = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder).filter((name) => name.includes(".expected."))

const log = join(root, shown, "session-1.expected.jsonl")

const pretty = (text: string) => `${JSON.stringify(JSON.parse(text), null, 2)}\n`

describe(`programs, ${mode}`, () => {
  for (const name of scenarios) {
    const folder = join(root, name)
    it.live(name, () =>
      Effect.gen(function* () {
        // Made by the first scenario, in this very run when it is refreshed.
        const outcome = new Map(
          yield* Snapshot.run(folder, mode, name === shown ? undefined : pinned(readFileSync(log, "utf8")))
        )
        if (name === shown) {
          const { system, tools } = pinned(outcome.get("session-1.expected.jsonl") ?? "")
          outcome.set("system-prompt.expected.md", `${JSON.parse(system)}\n`)
          outcome.set("tool-schemas.expected.json", pretty(tools))
        }
        if (mode !== "replay") {
          for (const file of expected(folder)) if (!outcome.has(file)) rmSync(join(folder, file))
          for (const [file, text] of outcome) writeFileSync(join(folder, file), text)
        }
        assert.deepStrictEqual(expected(folder), [...outcome.keys()].sort())
        for (const [file, text] of outcome) assert.strictEqual(text, readFileSync(join(folder, file), "utf8"), file)
      })
    )
  }
})
