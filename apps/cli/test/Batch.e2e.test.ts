// `dsh batch` as users have it: the built command, a real server, real files, signals, and a real repository.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync, spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Batches from "./support/Batches.ts"
import { bin } from "./support/Dsh.ts"
import * as Workspace from "./support/Workspace.ts"

const usage = { prompt_tokens: 900, completion_tokens: 100 }
const answers = Script.respond((request) => Reply.text(`done ${Batches.taskOf(request)}`, { usage }))

const prices = (workspace: Workspace.Workspace) => {
  mkdirSync(workspace.home, { recursive: true })
  const text = "prices:\n  deepseek-official/deepseek-v4-flash: { currency: USD, input: 1000, output: 1000 }\n"
  writeFileSync(join(workspace.home, "settings.yaml"), text)
}

describe("dsh batch", () => {
  it.scopedLive("prints one line for each task as it is done, and says on stderr what it came to", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(answers)
      prices(workspace)
      const { code, stderr, stdout } = yield* workspace.run(["batch", "-", "--concurrency", "2"], {
        stdin: '{"task":"task 1;"}\n{"id":"two","task":"task 2;","model":"deepseek-v4-flash"}\n'
      })
      assert.strictEqual(code, 0, stderr)
      const results = Batches.parse(stdout)
      assert.sameMembers(
        results.map(({ finalResponse, id, status }) => `${id} ${status} ${finalResponse}`),
        ["task-1 completed done t1", "two completed done t2"]
      )
      assert.deepStrictEqual(results[0]!.cost, { amounts: { USD: 1 }, unknown: 0 })
      assert.sameMembers(
        results.map(({ sessionId }) => sessionId!),
        [...workspace.sessions()]
      )
      assert.match(stderr, /^dsh: tasks {4}2: 2 completed, 0 failed, 0 cancelled$/m)
      assert.match(stderr, /^dsh: used {5}2 requests, .* 2\.00 USD$/m)
    })
  )

  it.scopedLive("ends with 1 when a task fails, tries again what may pass, and tells the reasons", () =>
    Effect.gen(function* () {
      let refused = 0
      const workspace = yield* Workspace.make(
        Script.respond((request) => {
          const id = Batches.taskOf(request)
          if (id === "t0") return Reply.behaviour("auth_error")
          if (id === "t1" && refused++ === 0) return Reply.behaviour("server_error")
          return Reply.text(`done ${id}`)
        })
      )
      const out = join(workspace.project, "r.jsonl")
      const args = ["batch", Batches.file(workspace, 3), "--retry", "1", "--out", out]
      const { code, stderr, stdout } = yield* workspace.run(args)
      assert.deepStrictEqual([code, stdout], [1, ""], stderr)
      const results = Batches.results(out)
      assert.deepStrictEqual(
        results.map(({ attempts, exitCode, id, status }) => [id, status, exitCode, attempts]),
        [
          ["t0", "failed", 1, 1],
          ["t1", "completed", 0, 2],
          ["t2", "completed", 0, 1]
        ]
      )
      assert.match(stderr, /^dsh: failed {3}t0: [A-Z_]+: /m)
      const again = yield* workspace.run([...args, "--resume"])
      assert.strictEqual(again.code, 1, "what failed before is not forgotten")
      assert.deepStrictEqual(Batches.results(out), results)
    })
  )

  it.scopedLive("tells every line that is wrong, and starts nothing", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(answers)
      const tasks = join(workspace.project, "bad.jsonl")
      writeFileSync(tasks, '{"task":"fine"}\n{"taks":"a"}\nnonsense\n{"task":"a","budget":{"steps":-1}}\n')
      const bad = yield* workspace.run(["batch", tasks])
      assert.deepStrictEqual([bad.code, bad.stdout], [2, ""])
      assert.include(bad.stderr, 'dsh: INVALID_TASK: line 2: taks is no field of it; did you mean "task"?')
      assert.match(bad.stderr, /^dsh: INVALID_TASK: line 3: is no JSON/m)
      assert.include(bad.stderr, "dsh: INVALID_TASK: line 4: budget.steps is not a whole number above 0")
      assert.include(bad.stderr, "dsh: USAGE: 3 lines of")

      const lines = [
        { task: "a", cwd: "nowhere" },
        { task: "b", preset: "standrad" },
        { task: "c", permission: "everything" },
        { task: "d" }
      ]
      writeFileSync(tasks, lines.map((line) => JSON.stringify(line)).join("\n"))
      const wrong = yield* workspace.run(["batch", tasks])
      assert.deepStrictEqual([wrong.code, wrong.stdout], [3, ""])
      assert.match(wrong.stderr, /line 1: cwd is .*nowhere, where there is no folder/)
      assert.include(
        wrong.stderr,
        'line 2: preset is "standrad", and there is no such preset; did you mean "standard"?'
      )
      assert.match(
        wrong.stderr,
        /line 3: permission is "everything", which is no permission preset; it knows read-only/
      )

      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
        [["--concurrency", "0"], /--concurrency takes a whole number/],
        [["--isolate", "worktrees"], /--isolate takes one of none, copy, worktree.*did you mean "worktree"/],
        [["--resume"], /--resume .*--out FILE/],
        [["--timeout", "soon"], /--timeout takes a time/]
      ]
      writeFileSync(tasks, '{"task":"fine"}')
      for (const [args, said] of cases) {
        const { code, stderr } = yield* workspace.run(["batch", tasks, ...args])
        assert.strictEqual(code, 2, stderr)
        assert.match(stderr, said)
      }
      assert.deepStrictEqual(yield* workspace.server.requests, [])
    })
  )

  it.scopedLive("ends with 124 when its money is spent, and goes on with more", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(answers)
      const out = join(workspace.project, "r.jsonl")
      const args = ["batch", Batches.file(workspace, 5), "--out", out]
      const unpriced = yield* workspace.run([...args, "--max-cost", "2"])
      assert.strictEqual(unpriced.code, 3, unpriced.stderr)
      prices(workspace)
      const ended = yield* workspace.run([...args, "--max-cost", "2"])
      assert.strictEqual(ended.code, 124, ended.stderr)
      assert.deepStrictEqual(
        Batches.results(out).map(({ error, id, status }) => `${id} ${status} ${error?.code ?? ""}`),
        ["t0 completed ", "t1 completed ", ...["t2", "t3", "t4"].map((id) => `${id} cancelled BATCH_BUDGET`)]
      )
      const more = yield* workspace.run([...args, "--max-cost", "3", "--resume"])
      assert.strictEqual(more.code, 124, more.stderr)
      const done = yield* workspace.run([...args, "--max-cost", "30", "--resume"])
      assert.strictEqual(done.code, 0, done.stderr)
      assert.deepStrictEqual(
        Batches.results(out).map(({ id, status }) => `${id} ${status}`),
        Array.from({ length: 5 }, (_, i) => `t${i} completed`)
      )
      assert.strictEqual((yield* workspace.server.requests).length, 5)
    })
  )

  it.scopedLive("goes on from no results but its own, and one process at a time", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.respond((request) => Reply.text(`done ${Batches.taskOf(request)}`, { delayMs: 600 }))
      )
      const out = join(workspace.project, "r.jsonl")
      const tasks = Batches.file(workspace, 2)
      const args = ["batch", tasks, "--out", out, "--concurrency", "2"]
      const [first, second] = yield* Effect.all(
        [
          workspace.run([...args, "--resume"]),
          Effect.zipRight(workspace.server.awaitRequests(1), workspace.run([...args, "--resume"]))
        ],
        { concurrency: 2 }
      )
      assert.deepStrictEqual([first.code, second.code], [0, 3], first.stderr + second.stderr)
      assert.match(second.stderr, /BATCH_IN_USE: .* is taken by process \d+/)
      const again = yield* workspace.run(args)
      assert.strictEqual(again.code, 2)
      assert.match(again.stderr, /has results already; go on with them by --resume/)
      writeFileSync(tasks, readFileSync(tasks, "utf8").replace("task 1;", "task 7;"))
      const changed = yield* workspace.run([...args, "--resume"])
      assert.strictEqual(changed.code, 2)
      assert.match(
        changed.stderr,
        /TASKS_CHANGED: line 2: task "t1" is not what it was when the batch was begun; put it back/
      )
      assert.strictEqual((yield* workspace.server.requests).length, 2)
    })
  )
})

describe("the end of a batch", () => {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143]
  ] as const) {
    it.scopedLive(`by ${signal} leaves a result for every task, and goes on later without doing anything twice`, () =>
      Effect.gen(function* () {
        let isSlow = true
        let child: ChildProcess | undefined
        let asked = 0
        const workspace = yield* Workspace.make(
          Script.respond((request) => {
            if (isSlow && ++asked === 12) child?.kill(signal)
            return isSlow && asked > 8
              ? Reply.text("half", { ending: "hold", done: false, finish: null })
              : Reply.text(`done ${Batches.taskOf(request)}`)
          })
        )
        const out = join(workspace.project, "r.jsonl")
        const args = ["batch", Batches.file(workspace, 30), "--out", out, "--concurrency", "4"]
        const ended = yield* workspace.run(args, { onStart: (started) => (child = started) })
        assert.deepStrictEqual([ended.code, ended.signal], [code, null], ended.stderr)
        const first = Batches.results(out)
        assert.strictEqual(new Set(first.map(({ id }) => id)).size, 30)
        assert.strictEqual(first.length, 30)
        const completed = first.filter(({ status }) => status === "completed")
        assert.strictEqual(completed.length, 8, ended.stderr)
        assert.isTrue(first.every(({ status }) => status !== "failed"))
        assert.match(ended.stderr, /^dsh: tasks {4}30: 8 completed, 0 failed, 22 cancelled$/m)
        isSlow = false
        const on = yield* workspace.run([...args, "--resume"])
        assert.strictEqual(on.code, 0, on.stderr)
        const all = Batches.results(out)
        assert.strictEqual(all.length, 30)
        assert.strictEqual(new Set(all.map(({ id }) => id)).size, 30)
        assert.deepStrictEqual(all.slice(0, 8), completed)
        const counts = yield* Batches.requests(workspace)
        for (const { id } of completed) assert.strictEqual(counts.get(id), 1, id)
      })
    )
  }

  it.scopedLive("comes when nobody reads its results any more", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(answers)
      const tasks = Batches.file(workspace, 60)
      const { code, stderr } = yield* Effect.promise(
        () =>
          new Promise<{ code: number | null; stderr: string }>((resolve) => {
            const child = spawn(process.execPath, [bin, "batch", tasks], {
              cwd: workspace.project,
              env: { ...process.env, ...workspace.env },
              stdio: ["ignore", "pipe", "pipe"]
            })
            let stderr = ""
            child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
            child.stdout.once("data", () => child.stdout.destroy())
            child.once("exit", (code) => resolve({ code, stderr }))
          })
      )
      assert.strictEqual(code, 1, stderr)
      assert.match(stderr, /^dsh: OUTPUT_CLOSED: whoever read the results went away/m)
      assert.isBelow((yield* workspace.server.requests).length, 30)
    })
  )
})

describe("folders of their own", () => {
  const git = (cwd: string, ...args: ReadonlyArray<string>) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
      cwd,
      encoding: "utf8"
    }).trim()

  it.scopedLive("are worktrees of the repository, which stays as it is; those with changes are kept", () =>
    Effect.gen(function* () {
      // One task writes a file, one commits, one looks.
      const commands = [
        "echo by t0 > new.txt",
        "echo by t1 > a.txt && git -c user.name=t -c user.email=t@example.com commit -qam 'by t1'",
        "cat a.txt"
      ]
      const workspace = yield* Workspace.make(
        Script.respond((request) => {
          const id = Batches.taskOf(request)
          const last = request.messages.at(-1)!
          if (last.role === "tool") return Reply.text(last.text)
          const command = commands[Number(id.slice(1))]!
          return Reply.toolCalls([{ name: "bash", arguments: { command, description: "Do it" } }])
        })
      )
      const { project } = workspace
      git(project, "init", "--quiet", "--initial-branch=mine")
      writeFileSync(join(project, "a.txt"), "one\n")
      git(project, "add", "a.txt")
      git(project, "commit", "--quiet", "-m", "first")
      const tasks = Batches.file(workspace, 3)
      writeFileSync(join(project, "a.txt"), "mine, not committed\n")
      const state = () => [
        git(project, "symbolic-ref", "HEAD"),
        git(project, "for-each-ref"),
        git(project, "--no-optional-locks", "status", "--porcelain"),
        readFileSync(join(project, ".git", "index")).toString("base64"),
        readFileSync(join(project, "a.txt"), "utf8")
      ]
      const before = state()
      const { code, stderr, stdout } = yield* workspace.run([
        "batch",
        tasks,
        "--isolate",
        "worktree",
        "--concurrency",
        "3"
      ])
      assert.strictEqual(code, 0, stderr)
      const results = [...Batches.parse(stdout)].sort((a, b) => (a.id < b.id ? -1 : 1))
      const [fresh, committed, looked] = results.map(({ folder }) => folder)
      assert.strictEqual(readFileSync(join(fresh!, "new.txt"), "utf8"), "by t0\n")
      assert.strictEqual(git(committed!, "log", "-1", "--format=%s"), "by t1")
      assert.strictEqual(looked, undefined)
      assert.include(results[2]!.finalResponse, "one")
      assert.deepStrictEqual(state(), before)
      const [, root] = /work in folders of their own under (.*)$/m.exec(stderr)!
      assert.sameMembers(readdirSync(root!), [".base", "t0", "t1"])
      assert.strictEqual(git(project, "worktree", "list").split("\n").length, 3)
      assert.include(stderr, `2 are kept under ${root}`)
    })
  )

  it.scopedLive("are copies, gone when nothing was changed, and never asked for where there is no repository", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(answers)
      const tasks = Batches.file(workspace, 2)
      const refused = yield* workspace.run(["batch", tasks, "--isolate", "worktree"])
      assert.strictEqual(refused.code, 3, refused.stderr)
      assert.match(refused.stderr, /line 1: .* is in no git repository .*use copies of the folder/)
      const { code, stderr, stdout } = yield* workspace.run(["batch", tasks, "--isolate", "copy"])
      assert.strictEqual(code, 0, stderr)
      const [, root] = /work in folders of their own under (.*)$/m.exec(stderr)!
      assert.isFalse(existsSync(root!))
      assert.isTrue(Batches.parse(stdout).every(({ folder }) => folder === undefined))
      const [id] = workspace.sessions()
      assert.include(JSON.stringify(workspace.log(id!)[0]), join(root!, "t"))
    })
  )
})
