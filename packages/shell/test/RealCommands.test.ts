// Commands that models really write, and that made shells hang, forget or drown: each comes to an end of its own, with a result that
// says what happened.
import * as CallIds from "@dsh/protocol/Ids"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import * as ToolPipeline from "@dsh/tools/ToolPipeline"
import * as Tools from "@dsh/tools/Tools"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as BashTool from "../src/BashTool.ts"
import { bash, tempDir } from "./support.ts"

const product = BashTool.layer.pipe(
  Layer.provideMerge(
    Layer.merge(Layer.mergeAll(Tools.layer, SystemPrompt.layer, ToolHooks.layer), bash({ graceMs: 200 }))
  )
)

let calls = 0

const run = (command: string, more: object = {}) =>
  Effect.map(
    ToolPipeline.execute({
      callId: CallIds.CallId(`call-${++calls}`),
      name: "bash",
      arguments: { command, description: "Tries something out", ...more },
      session: undefined
    }),
    ({ content }) => content.map((block) => (block.type === "text" ? block.text : "")).join("")
  )

const held = /\[a background process still held the output when the shell exited; /

describe("a background child that keeps the output open", () => {
  for (const [command, printed] of [
    ["sleep 60 & echo done", "done"],
    ["python3 -c 'import time; time.sleep(60)' & sleep 0.1; echo ok", "ok"],
    ["(while :; do echo x; sleep 0.1; done) & echo fg", "fg"],
    ["setsid sleep 5 & echo hi", "hi"],
    ["sleep 60 </dev/null >/dev/null & echo done", "done"]
  ] as const) {
    it.live(`does not keep the call: ${command}`, () =>
      Effect.gen(function* () {
        const text = yield* run(command)
        assert.include(text.split("\n"), printed)
        assert.match(text, held)
      }).pipe(Effect.provide(product))
    )
  }

  it.live("prints nothing into the next call", () =>
    Effect.gen(function* () {
      assert.match(yield* run("(sleep 5; echo late) & echo early"), /^early\n\[a background/)
      assert.strictEqual(yield* run("echo second"), "second")
    }).pipe(Effect.provide(product))
  )

  it.live("in a session of its own does not keep a call beyond its deadline", () =>
    Effect.gen(function* () {
      const text = yield* run("setsid bash -c 'echo $$ && exec sleep 600' & echo begun; sleep 600", { timeoutMs: 1000 })
      assert.match(text, /begun/)
      assert.match(text, /\[timed out after 1000ms\]\n\[killed by signal: SIGTERM\]$/)
    }).pipe(Effect.provide(product))
  )
})

describe("a program that wants somebody to type", () => {
  const repository = [
    // In an empty folder and nowhere else.
    `test -z "$(ls -A)" && git init -q -b main .`,
    "git config user.email a@b.c && git config user.name n",
    "for i in 1 2 3; do echo $i > f; git add f; git commit -qm $i; done",
    "git checkout -q -b other HEAD~1 && echo theirs > f && git commit -qam theirs",
    "git rebase main >/dev/null 2>&1; git status --short"
  ].join(" && ")

  for (const [command, said] of [
    ["echo both > f; git add f; git rebase --continue", /editor/i],
    ["git rebase --abort; git rebase -i HEAD~2", /editor/i],
    ["git rebase --abort; echo more >> f; git commit -a", /editor/i],
    ["read -p x </dev/tty", /\/dev\/tty/],
    ["python3 -c 'input()'", /EOF/],
    ["ssh -o ConnectTimeout=1 nobody@localhost true", /\[stderr\]/],
    ["sudo -k true", /\[stderr\]/]
  ] as const) {
    it.live(`fails instead of waiting: ${command}`, () =>
      Effect.gen(function* () {
        const workdir = yield* tempDir
        if (command.startsWith("git") || command.includes("; git")) {
          assert.include(yield* run(repository, { workdir }), "UU f")
        }
        const text = yield* run(command, { workdir })
        assert.match(text, said)
        assert.match(text, /\[exit code: [1-9]\d*\]$/)
      }).pipe(Effect.scoped, Effect.provide(product))
    )
  }
})

describe("a change of folder", () => {
  it.live("ends with the call, and the result says so", () =>
    Effect.gen(function* () {
      const workdir = yield* tempDir
      yield* run("mkdir sub", { workdir })
      assert.strictEqual(yield* run("cd sub && pwd", { workdir }), `${workdir}/sub\n[cwd: ${workdir}]`)
      assert.strictEqual(yield* run("pwd", { workdir }), `${workdir}\n[cwd: ${workdir}]`)
      assert.match(yield* run("cd /; pwd"), /^\/\n\[cwd: .*, where every call starts\]$/)
      const both = Effect.all([run("cd /tmp && pwd"), run("cd /usr && pwd"), run("pwd")], { concurrency: 3 })
      const [temp, usr, here] = yield* both
      assert.match(temp, /^\/tmp\n/)
      assert.match(usr, /^\/usr\n/)
      assert.strictEqual(here, process.cwd())
      assert.strictEqual(yield* run("echo abcd; echo cdrom"), "abcd\ncdrom")
    }).pipe(Effect.scoped, Effect.provide(product))
  )
})

describe("output that is no text", () => {
  for (const command of ["cat /bin/ls", "head -c 100000 /dev/urandom"]) {
    it.live(`is a notice: ${command}`, () =>
      Effect.map(run(command), (text) => assert.match(text, /^\[binary output of \d+ bytes, not shown\]/)).pipe(
        Effect.provide(product)
      )
    )
  }
})

describe("output in the encoding of another system", () => {
  const rows: ReadonlyArray<readonly [encoding: string, command: string, text: string]> = [
    [
      "gb18030",
      "printf '\\xd6\\xd0\\xce\\xc4\\xb1\\xe0\\xd2\\xeb\\xb4\\xed\\xce\\xf3: main.c\\n'",
      "中文编译错误: main.c"
    ],
    ["shift_jis", "printf '\\x83\\x65\\x83\\x58\\x83\\x67\\x82\\xf0\\x8e\\xc0\\x8d\\x73\\n'", "テストを実行"],
    ["iso-8859-1", "printf 'caf\\xe9 ferm\\xe9\\n'", "café fermé"]
  ]
  for (const [encoding, command, text] of rows) {
    it.live(`is decoded from ${encoding}, and the result says so`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* run(command), `${text}\n[decoded from ${encoding}]`)
        const failed = yield* run(`${command} >&2; false`)
        assert.strictEqual(failed, `[stderr]\n${text}\n[decoded from ${encoding}]\n[exit code: 1]`)
      }).pipe(Effect.provide(product))
    )
  }

  it.live("is decoded in lines when some of it is left out, and left alone when it might be anything", () =>
    Effect.gen(function* () {
      const long = yield* run("for i in $(seq 9000); do printf '\\xd6\\xd0\\xce\\xc4%d\\n' $i; done")
      assert.match(long, /^中文1\n[^]*\[… \d+ bytes left out …\]\n中文\d+\n[^]*中文9000\n\[decoded from gb18030\]\n/)
      assert.notInclude(long, "\uFFFD")
      assert.strictEqual(yield* run("printf 'a\\x81\\xff \\xfe\\n'"), "a\uFFFD\uFFFD \uFFFD")
    }).pipe(Effect.provide(product))
  )
})

describe("the shell that the model is told of", () => {
  it.live("is the one that runs", () =>
    Effect.gen(function* () {
      assert.match(BashTool.tool.description, /\bbash\b/)
      assert.match(yield* run("echo $0 $BASH_VERSION"), /^bash \d/)
    }).pipe(Effect.provide(product))
  )
})
