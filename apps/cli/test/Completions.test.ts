// What is offered where, whatever there is on the machine.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Completions from "../src/Completions.ts"

const known = { sessions: ["session-1", "session-2"], presets: ["minimal", "standard"], models: ["m-1"] } as const

const offered = (...words: ReadonlyArray<string>): ReadonlyArray<string> =>
  Effect.runSync(Completions.offer(words, (source) => Effect.succeed(known[source])))
    .split("\n")
    .filter((line) => line !== "")

describe("completions", () => {
  const cases: ReadonlyArray<readonly [words: ReadonlyArray<string>, offered: ReadonlyArray<string>]> = [
    [["ru"], ["run"]],
    [["--pro"], ["--profile"]],
    [
      ["session", "s"],
      ["search", "show"]
    ],
    [
      ["session", "show", ""],
      ["session-1", "session-2"]
    ],
    [["session", "search", ""], []],
    [["preset", "show", "st"], ["standard"]],
    [["preset", "list", ""], []],
    [
      ["run", "--max-"],
      ["--max-cost", "--max-steps", "--max-tokens"]
    ],
    [["run", "--max-steps", "3", "--max-s"], []],
    [["run", "--session", "session-2"], ["session-2"]],
    [
      ["run", "--preset", ""],
      ["minimal", "standard"]
    ],
    [["run", "--model", ""], ["m-1"]],
    [["run", "--permission", "r"], ["read-only"]],
    [["run", "--file", ""], []],
    [["run", "fix the "], []],
    [["help", "exit"], ["exit-codes"]],
    [["help", "session", "sh"], ["show"]],
    [["--completions", "z"], ["zsh"]],
    [["nobody", ""], []]
  ]
  for (const [words, expected] of cases) {
    it(`of dsh ${words.join(" ")}|`, () => assert.deepStrictEqual(offered(...words), expected))
  }

  it("offer every command", () => {
    assert.includeMembers([...offered("")], ["run", "session", "settings", "mock-llm", "help"])
  })
})
