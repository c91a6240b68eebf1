// Whatever a command that is not allowed is put together with, the whole is not allowed either.
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import * as CommandVerdict from "../src/CommandVerdict.ts"
import { ShellSyntax } from "../src/ShellSyntax.ts"
import * as ShellSyntaxTreeSitter from "../src/ShellSyntaxTreeSitter.ts"
import { given } from "./support.ts"

const rules = given({ allow: ["bash(git log *)", "bash(ls *)", "bash(cat *)", "bash(echo *)", "bash(true)"] })

const permitted = ["git log -1", "ls", "ls -la src", "cat 'a b'", 'echo "x y"', "true"]
const forbidden = ["whoami", "rm -rf x", "sh -c ls", "./ls", "git push", "$x", "eval ls", "ls() { rm x; }"]

/** `B` is where the forbidden one goes, which may be such a whole again. */
const wholes = [
  "A && B",
  "A || B",
  "A; B",
  "A | B",
  "A |& B",
  "A & B",
  "A\nB",
  "B && A",
  "B; A",
  "B | A",
  "B\nA",
  "(B)",
  "{ B; }",
  "(A; B) | A",
  "! B",
  "if A; then B; fi",
  "if B; then A; fi",
  "if A; then A; else B; fi",
  "for f in a b; do B; done",
  "while A; do B; done",
  "case x in x) B;; esac",
  "echo $(B)",
  'echo "a $(B) b"',
  "echo a$(B)b",
  "echo ${x:-$(B)}",
  "x=$(B)",
  "cat <(B)",
  "cat < <(B)",
  "cat <<EOF\n$(B)\nEOF",
  "cat <<EOF; B\ntext\nEOF",
  "cat <<'EOF'\ntext\nEOF\nB",
  "cat <<< $(B)",
  "ls > /dev/null; B",
  "A # comment\nB",
  "A && \\\n  B"
]

const text: FastCheck.Arbitrary<string> = FastCheck.letrec<{ text: string }>((tie) => ({
  text: FastCheck.oneof(
    { maxDepth: 3 },
    FastCheck.constantFrom(...forbidden),
    FastCheck.tuple(FastCheck.constantFrom(...wholes), FastCheck.constantFrom(...permitted), tie("text")).map(
      ([whole, a, b]) => whole.replaceAll("A", () => a).replaceAll("B", () => b)
    )
  )
})).text

describe("a command that is not allowed", () => {
  it.effect("is not allowed as part of another", () =>
    Effect.gen(function* () {
      const parse = yield* (yield* ShellSyntax).open
      const kindOf = (command: string) => CommandVerdict.judge(command, rules, parse).verdict.kind
      FastCheck.assert(
        FastCheck.property(text, (command) => kindOf(command) !== "allow"),
        { numRuns: 1500 }
      )
      // And it is not that nothing is: of all these the parser fails at one.
      const allowed = wholes.map((whole) => whole.replaceAll(/[AB]/g, "ls"))
      assert.deepStrictEqual(
        allowed.filter((command) => kindOf(command) !== "allow"),
        ["cat <<EOF; ls\ntext\nEOF"]
      )
    }).pipe(Effect.provide(ShellSyntaxTreeSitter.layer))
  )
})
