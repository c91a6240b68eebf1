// `dsh run` as a part of shell scripts: where the task comes from, where it works, and what a script can tell from how it ended.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import type * as ChatRequest from "@dsh/testing/ChatRequest"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { sh } from "./support/Shell.ts"
import * as Workspace from "./support/Workspace.ts"

const hi = Script.sequence([Reply.text("hi")], "last")

/** What the user said last in the request that was made last. */
const asked = (workspace: Workspace.Workspace) =>
  Effect.map(workspace.server.requests, (requests) => {
    const messages = requests.at(-1)?.request?.messages ?? []
    return said(messages).at(-1)
  })

const said = (messages: ChatRequest.ChatRequest["messages"]) =>
  messages.filter(({ role, text }) => role === "user" && !text.startsWith("Current context.")).map(({ text }) => text)

describe("the task of dsh run", () => {
  const tasks: ReadonlyArray<readonly [what: string, script: string, task: string]> = [
    ["is its words", `dsh run sum it up`, "sum it up"],
    ["has what is piped in behind it", `printf 'a\\nb\\n' | dsh run "sum up"`, "sum up\n\n<stdin>\na\nb\n</stdin>"],
    [
      "waits for a command of a pipeline that takes its time, to its end",
      `(sleep 1; echo a; sleep 0.5; echo b) | dsh run "sum up"`,
      "sum up\n\n<stdin>\na\nb\n</stdin>"
    ],
    ["has a file behind it", `echo data > f; dsh run "sum up" < f`, "sum up\n\n<stdin>\ndata\n</stdin>"],
    ["is piped in", `echo "from a pipe" | dsh run`, "from a pipe"],
    ["is what the old form says", `echo more | dsh --profile headless "task"`, "task\n\n<stdin>\nmore\n</stdin>"],
    ["is in a file", `printf 'do\\nthis\\n' > task.md; dsh run --file task.md`, "do\nthis"],
    ["is in a file, behind its words", `echo this > task.md; dsh run --file=task.md do`, "do\n\nthis"],
    ["is in a file that is stdin", `echo this | dsh run --file - do`, "do\n\nthis"],
    ["has nothing behind it when stdin is closed", `dsh run hello <&-`, "hello"],
    ["has nothing behind it when stdin is a folder", `dsh run hello < .`, "hello"],
    ["has nothing behind it when stdin is empty", `: | dsh run hello`, "hello"]
  ]
  for (const [what, script, task] of tasks) {
    it.scopedLive(what, () =>
      Effect.gen(function* () {
        const workspace = yield* Workspace.make(hi)
        const { code, stderr, stdout } = yield* sh(workspace, script)
        assert.deepStrictEqual([code, stdout, stderr], [0, "hi\n", ""])
        assert.strictEqual(yield* asked(workspace), task)
      })
    )
  }

  it.scopedLive("goes on without a pipe of a pipeline that stays silent, and says so", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(hi)
      const { stderr, stdout } = yield* sh(workspace, `dsh run hello < <(exec sleep 600 2>&-); echo "code $?"; kill $!`)
      assert.deepStrictEqual(
        [stdout, stderr],
        ["hi\ncode 0\n", "dsh: nothing arrived on stdin for 3s; going on without it\n"]
      )
      assert.strictEqual(yield* asked(workspace), "hello")
    })
  )

  it.scopedLive("does not wait for a program that has started it and writes nothing", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(hi)
      // The shell itself holds the other end of the pipe.
      const { code, stderr, stdout } = yield* sh(workspace, `mkfifo p; exec 9<>p; dsh run hello <p`)
      assert.deepStrictEqual([code, stdout, stderr], [0, "hi\n", ""])
    })
  )

  it.scopedLive("is not waited for beyond the time there is", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(hi)
      const script = `dsh run --timeout 2 hello < <(echo on; exec sleep 600 2>&-); echo "code $?"; kill $!`
      const { stderr, stdout } = yield* sh(workspace, script)
      assert.strictEqual(stdout, "code 124\n")
      assert.match(
        stderr,
        /^dsh: BUDGET: the budget of 2 seconds is spent, and what is piped in has not come to its end\n$/
      )
    })
  )

  const none: ReadonlyArray<readonly [what: string, script: string, why: RegExp]> = [
    ["nothing", `dsh run`, /^dsh: USAGE: no task was given; say what to do, /],
    ["an empty pipe", `: | dsh run`, /^dsh: USAGE: no task was given/],
    ["a closed stdin", `dsh run <&-`, /^dsh: USAGE: no task was given/],
    ["a folder", `dsh run < .`, /^dsh: USAGE: no task was given/],
    ["a blank", `dsh run "  "`, /^dsh: USAGE: the task is blank/],
    ["an empty file", `: > f; dsh run --file f`, /^dsh: USAGE: .*\/f has no task in it/],
    ["a file that is not there", `dsh run --file f`, /^dsh: USAGE: the task cannot be read from .*ENOENT/]
  ]
  for (const [what, script, why] of none) {
    it.scopedLive(`is not ${what}`, () =>
      Effect.gen(function* () {
        const workspace = yield* Workspace.make(hi)
        const { code, stderr, stdout } = yield* sh(workspace, script)
        assert.deepStrictEqual([code, stdout], [2, ""])
        assert.match(stderr, why)
        assert.strictEqual((yield* workspace.server.requests).length, 0)
      })
    )
  }
})

describe("the folder of dsh run", () => {
  it.scopedLive("is the one that --cwd names, and files are found from where it was called", () =>
    Effect.gen(function* () {
      const pwd = Reply.toolCalls([{ name: "bash", arguments: { command: "pwd", description: "Where" } }])
      const workspace = yield* Workspace.make(Script.sequence([pwd, Reply.text("there")], "last"))
      const { project } = workspace
      mkdirSync(join(project, "sub"))
      symlinkSync("sub", join(project, "link"))
      writeFileSync(join(project, "task.md"), "look")
      const { code, stderr } = yield* workspace.run(["run", "--cwd", "link", "--file", "task.md"])
      assert.strictEqual(code, 0, stderr)
      const last = (yield* workspace.server.requests).at(-1)?.request?.messages.at(-1)
      assert.include(last?.text, realpathSync(join(project, "sub")))
      const elsewhere = yield* workspace.run(["run", "--continue", "go on"])
      assert.strictEqual(elsewhere.code, 1)
      assert.match(elsewhere.stderr, /^dsh: SESSION_NOT_FOUND: there is no session of .*project to go on with/)
      const same = yield* workspace.run(["run", "--continue", "--cwd=sub", "go on"])
      assert.strictEqual(same.code, 0, same.stderr)
    })
  )

  it.scopedLive("of a session goes with it, unless another one is asked for", () =>
    Effect.gen(function* () {
      const pwd = Reply.toolCalls([{ name: "bash", arguments: { command: "pwd", description: "Where" } }])
      const workspace = yield* Workspace.make(Script.sequence([Reply.text("hi"), pwd, Reply.text("there")], "last"))
      const [a, b] = ["a", "b"].map((name) => join(workspace.project, name)) as [string, string]
      for (const folder of [a, b]) mkdirSync(folder)
      yield* workspace.run(["run", "hello"], { cwd: a })
      const [id = ""] = workspace.sessions()
      const fromB = yield* workspace.run(["run", "--session", id, "where?"], { cwd: b })
      assert.strictEqual(fromB.code, 0, fromB.stderr)
      assert.include((yield* workspace.server.requests).at(-1)?.request?.messages.at(-1)?.text, a)
      const refused = yield* workspace.run(["run", "--session", id, "--cwd", b, "where?"])
      assert.strictEqual(refused.code, 2)
      assert.match(refused.stderr, /^dsh: USAGE: session .* works in .*\/a, not in .*\/b; leave out --cwd/)
      rmSync(a, { recursive: true })
      const gone = yield* workspace.run(["run", "--session", id, "where?"], { cwd: b })
      assert.strictEqual(gone.code, 3)
      assert.match(gone.stderr, /^dsh: FOLDER_MISSING: /)
    })
  )

  it.scopedLive("has to be there", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(hi)
      const { code, stderr } = yield* workspace.run(["run", "--cwd", "nowhere", "hello"])
      assert.strictEqual(code, 2)
      assert.match(stderr, /^dsh: USAGE: --cwd takes a folder that is there \(.*ENOENT/)
    })
  )
})
