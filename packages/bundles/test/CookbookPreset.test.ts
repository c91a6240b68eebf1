// The preset of the cookbook is one that can be used, and does what the page says.
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Composed from "./support/Composed.ts"

const { Reply } = LlmScripted
const written = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../../scratchpad/cookbook/reviewer/${name}`, import.meta.url)), "utf8")

describe("the reviewer of the cookbook", () => {
  it.scopedLive("reads, is told what AGENTS.md says, and has no tool to change anything with", () =>
    Effect.gen(function* () {
      const composed = yield* Composed.make()
      composed.write("reviewer", written("agent.yml"), written("preset.yml"))
      writeFileSync(join(composed.project, "AGENTS.md"), "Look at the tests first.\n")
      const agent = yield* Composed.agent(composed, "reviewer")
      yield* composed.script.add(
        Reply.calls([{ name: "write", arguments: { file_path: "a.txt", content: "no" } }]),
        Reply.text("Nothing is wrong.")
      )
      const { reason } = yield* Effect.flatMap(agent.followup("Review it."), agent.awaitTurn)
      assert.strictEqual(reason.kind, "completed")
      const { header, messages } = composed.script.requests.at(-1)!
      assert.deepStrictEqual(
        header.tools?.map(({ name }) => name),
        ["glob", "grep", "read"]
      )
      assert.include(header.system, `you review code in ${composed.project}.`)
      assert.include(JSON.stringify(messages), "Look at the tests first.")
      assert.isFalse(existsSync(join(composed.project, "a.txt")))

      const { name, problem } = (yield* composed.presets.list).find(({ id }) => id === "reviewer")!
      assert.deepStrictEqual({ name, problem }, { name: "Reviewer", problem: undefined })
    })
  )
})
