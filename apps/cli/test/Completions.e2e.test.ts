// The script in a real shell, over the real command.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { sh } from "./support/Shell.ts"
import * as Workspace from "./support/Workspace.ts"

const pressed = (...words: ReadonlyArray<string>) =>
  `COMP_WORDS=(dsh ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _dsh; echo "\${COMPREPLY[*]}"`

it.scopedLive("bash is offered commands, options and sessions", () =>
  Effect.gen(function* () {
    const workspace = yield* Workspace.make(Script.sequence([Reply.text("hi")]))
    yield* workspace.run(["run", "hello"])
    const { stderr, stdout } = yield* sh(
      workspace,
      [
        'eval "$(dsh --completions bash)"',
        pressed("sess"),
        pressed("run", "--max-s"),
        pressed("session", "show", "")
      ].join("\n")
    )
    assert.deepStrictEqual([stdout, stderr], [`session\n--max-steps\n${workspace.sessions()[0]}\n`, ""])
    const found = yield* workspace.run(["session", "search", "--json", "hello"])
    assert.deepInclude(JSON.parse(found.stdout.split("\n")[0] ?? ""), { id: workspace.sessions()[0], who: "user" })
    const shown = yield* workspace.run(["preset", "show", "standard", "--json"])
    assert.deepInclude(JSON.parse(shown.stdout), { id: "standard", trust: "system" })
  })
)
