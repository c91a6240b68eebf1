// What is told of a text, held against what bash makes of it.
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ShellCommands from "../src/ShellCommands.ts"
import { ShellSyntax } from "../src/ShellSyntax.ts"
import type { Parse } from "../src/ShellSyntax.ts"
import * as ShellSyntaxTreeSitter from "../src/ShellSyntaxTreeSitter.ts"

/** Runs every text in a subshell in which no program exists, and takes down which one would have been run, with its words. */
const program = `
cd "$1" || exit
exec 9>ran
PATH=/nowhere
id=0
command_not_found_handle() { local IFS=$'\\x1f'; builtin printf '%s\\x1e' "$id$IFS$*" >&9; }
while IFS= read -r -d '' text; do
  ( eval "$text"; wait ) </dev/null >/dev/null 2>&1 9>&9
  id=$((id + 1))
done <texts
wait
`

const ran = (texts: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<ReadonlyArray<string>>> => {
  const folder = mkdtempSync(join(tmpdir(), "dsh-bash-"))
  try {
    writeFileSync(join(folder, "texts"), texts.map((text) => `${text}\0`).join(""))
    execFileSync("bash", ["-c", program, "bash", folder], { stdio: "ignore" })
    const runs: Array<Array<ReadonlyArray<string>>> = texts.map(() => [])
    for (const record of readFileSync(join(folder, "ran"), "utf8").split("\u001e").slice(0, -1)) {
      const [id, ...words] = record.split("\u001f")
      runs[Number(id)]!.push(words)
    }
    return runs
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const isTold = (command: ShellCommands.Command, words: ReadonlyArray<string>): boolean => {
  const [program] = command.words
  if (program?.literal !== true) return true
  if (program.text !== words[0]) return false
  if (command.words.some(({ single }) => !single)) return true
  return (
    command.words.length === words.length &&
    command.words.every(({ literal, text }, i) => !literal || text === words[i])
  )
}

/** Commands that bash ran of texts that were understood, and that were not told. */
const missed = (texts: ReadonlyArray<string>, parse: Parse) => {
  const understood = texts.flatMap((text) => {
    const { commands, doubts } = ShellCommands.read(text, parse)
    return doubts.length === 0 ? [{ text, commands }] : []
  })
  const runs = ran(understood.map(({ text }) => text))
  const missed = understood.flatMap(({ commands, text }, i) => {
    const wrappers = commands.filter(({ words }) => words[0]!.text === "time")
    // Assignments may stand behind it, too.
    const unwrapped = wrappers.flatMap((command) =>
      command.words.map((_, i) => ({ ...command, words: command.words.slice(i + 1) }))
    )
    const told = [...commands, ...unwrapped].filter(({ words }) => words.length > 0)
    return runs[i]!.filter((words) => !told.some((command) => isTold(command, words))).map((words) => ({ text, words }))
  })
  return { missed, understood: understood.length, ran: runs.filter((run) => run.length > 0).length }
}

const pieces = [
  ..."a b c d aa a b c d".split(" "),
  ..." ; & | ( ) { } $ ` \" ' \\ # ! = * ~ [ ] < > ? - : , ^ % @ + . / 1".split(" "),
  " ",
  " ",
  " ",
  "\n",
  "\t",
  "\r",
  "\\\n",
  "\u00a0",
  "\\ ",
  " #",
  " && ",
  " || ",
  " | ",
  "; ",
  "& ",
  "$(a ",
  "$(",
  ")",
  "`b`",
  "{ ",
  "; }",
  "{a,b}",
  "$x",
  "${x:-",
  "${x",
  '"$x"',
  "'a b'",
  '"a b"',
  "$'a\\x62'",
  '$"a',
  " <<E\n",
  " <<'E'\n",
  " <<-E\n",
  " <<E; ",
  "\nE\n",
  "\n\tE\n",
  "<<<",
  "<(a)",
  " >/dev/null ",
  " 2>&1 ",
  " &>/dev/null ",
  ">&",
  "if a; then ",
  "else ",
  "; fi",
  "for x in a b; do ",
  "; done",
  "case a in a) ",
  ";; esac",
  "time ",
  "! ",
  "x=",
  "x=1 ",
  "x+=b ",
  "[ a ]",
  "[ ",
  " ]",
  "2",
  "2>",
  "<",
  "[[ a ]]",
  "$((1+1))",
  "((",
  "))",
  "a() "
]

/** Other texts, and more of them, for who has the time: DSH_SHELL_SEED=7 DSH_SHELL_TEXTS=25000. */
const seed = Number(process.env["DSH_SHELL_SEED"] ?? 1)

const texts = (count: number, seed: number) =>
  FastCheck.sample(
    FastCheck.array(FastCheck.constantFrom(...pieces), { minLength: 1, maxLength: 12 }).map((parts) => parts.join("")),
    { numRuns: count, seed }
  )

describe("what is told of a text", () => {
  it.effect("names every command that bash runs, unless it says that it does not know", () =>
    Effect.gen(function* () {
      const parse = yield* (yield* ShellSyntax).open
      const found = missed(texts(Number(process.env["DSH_SHELL_TEXTS"] ?? 1000), seed), parse)
      assert.deepStrictEqual(found.missed, [])
      // It is not that it never knows.
      assert.isAbove(found.understood, 100)
      assert.isAbove(found.ran, 50)
    }).pipe(Effect.provide(ShellSyntaxTreeSitter.layer))
  )
})
