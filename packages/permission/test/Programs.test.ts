// What is known of programs: what a wide rule for one of them does not permit.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as CommandVerdict from "../src/CommandVerdict.ts"
import { ShellSyntax } from "../src/ShellSyntax.ts"
import * as ShellSyntaxTreeSitter from "../src/ShellSyntaxTreeSitter.ts"
import { given } from "./support.ts"

const programs = "git sort tar rsync curl npm go cargo find fd rg printf wget scp split pnpm test".split(" ")
const rules = given({ allow: programs.map((program) => `bash(${program} *)`) })

const permitted = [
  "git --no-pager log",
  "git commit -m 'fix: -c and --output'",
  "git config --get user.name",
  "git config list",
  "git checkout -b x",
  "sort -rn file",
  "tar -czf out.tgz src",
  "tar xf in.tar",
  "rsync -av a b",
  "curl -sSL https://example.com",
  "npm run build",
  "go test ./...",
  "cargo test",
  "find src -name x -print",
  "fd x src",
  "rg -n x",
  "printf '%s' x",
  "test -f x",
  "git log -- --output=x"
]

const refused = [
  "git config alias.x '!sh'",
  "git --bare config alias.x '!sh'",
  "git --git-dir=x log",
  "git -p log",
  "git submodule foreach ls",
  "git --no-pager submodule foreach ls",
  "git bisect run ls",
  "git rebase -i HEAD~2",
  "git rebase --exec ls HEAD~2",
  "git clone ext::sh x",
  "git clone --template=/tmp/x y",
  "git clone --config core.fsmonitor=x y",
  "git fetch --upload-pack=x",
  "git grep -O x",
  "git grep --open-files-in-pager=x y",
  "git archive -o out HEAD",
  "git diff --outp out",
  "sort --output=out in",
  "sort --comp x in",
  "tar --to-command=x -xf in",
  "tar -cf out --checkpoint-action=exec=x src",
  "tar -I x -xf in",
  "tar xIf x in",
  "rsync -e x a b",
  "rsync -ave x a b",
  "rsync --rsh=x a b",
  "scp -S x a b",
  "curl -o out url",
  "curl -sSLo out url",
  "curl --outp out url",
  "curl -K file",
  "wget --use-askpass=x url",
  "npm exec x",
  "npm x y",
  "npm --script-shell=x run y",
  "pnpm dlx x",
  "go run x",
  "go test -exec x",
  "go vet -vettool=x",
  "cargo run",
  "cargo --config x build",
  "find . -exec ls {} +",
  "find . -fls out",
  "fd -x ls",
  "fd --exec ls",
  "rg --pre x y",
  "split --filter=x in",
  "printf -v 'a[$(x)]' y",
  "test -v 'a[$(x)]'",
  "sort $x"
]

describe("a wide rule for a program", () => {
  it.effect("permits what the program does by itself, and nothing that it runs or writes because of an option", () =>
    Effect.gen(function* () {
      const parse = yield* (yield* ShellSyntax).open
      const kindOf = (command: string) => CommandVerdict.judge(command, rules, parse).verdict.kind
      assert.deepStrictEqual(
        permitted.filter((command) => kindOf(command) !== "allow"),
        []
      )
      assert.deepStrictEqual(
        refused.filter((command) => kindOf(command) !== "ask"),
        []
      )
    }).pipe(Effect.provide(ShellSyntaxTreeSitter.layer))
  )

  it.effect("costs no time that grows with the square of a command", () =>
    Effect.gen(function* () {
      const parse = yield* (yield* ShellSyntax).open
      const forbidding = given({ allow: ["bash(echo *)"], deny: ["bash(git push -f *)", "bash(rm *)"] })
      const long = [
        `xargs ${"a ".repeat(20_000)}`,
        `git ${"-a ".repeat(20_000)}`,
        `echo '${"\\".repeat(60_000)}'`,
        `echo ${"$(echo ".repeat(8000)}`,
        `echo "${"a ".repeat(30_000)}`,
        "(".repeat(60_000),
        `echo ${"x".repeat(70_000)}`
      ]
      for (const command of long) CommandVerdict.judge(command, forbidding, parse)
    }).pipe(Effect.provide(ShellSyntaxTreeSitter.layer))
  )
})
