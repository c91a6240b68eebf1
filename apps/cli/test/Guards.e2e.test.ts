// What keeps an agent of the command line from drowning: search instead of listings, files for long results, an end to going in circles.
import * as ChatRequest from "@dsh/testing/ChatRequest"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const canConfine = process.platform === "linux" && spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0

const call = (name: string, args: Readonly<Record<string, unknown>>) => Reply.toolCalls([{ name, arguments: args }])
const bash = (command: string) => call("bash", { command, description: "Do it" })

/** The text of the results that a request brings. */
const resultsOf = (request: ChatRequest.ChatRequest): string =>
  ChatRequest.pendingResults(request)
    .map(({ text }) => text)
    .join()

const results = (workspace: Workspace.Workspace) =>
  Effect.map(workspace.server.requests, (requests) =>
    requests.slice(1).map(({ request }) => (request === undefined ? "" : resultsOf(request)))
  )

const verified = (workspace: Workspace.Workspace) =>
  Effect.gen(function* () {
    const [id = ""] = workspace.sessions()
    assert.strictEqual((yield* workspace.run(["session", "verify", id])).code, 0)
    assert.strictEqual((yield* workspace.run(["session", "check", id])).code, 0)
  })

const ended = (workspace: Workspace.Workspace) =>
  workspace.log(workspace.sessions()[0] ?? "").findLast(({ type }) => type === "turn/end")?.data?.["reason"]

describe("dsh run, with an agent that goes in circles", () => {
  it.scopedLive("reminds it, then stops it and says why; the next prompt goes on", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.respond((request) =>
          ChatRequest.last(request)?.text === "and now?" ? Reply.text("stopped") : call("read", { file_path: "a.txt" })
        )
      )
      writeFileSync(join(workspace.project, "a.txt"), "a\n")
      const { code, stderr } = yield* workspace.run(["run", "--check-invariants", "read"])
      assert.strictEqual(code, 1)
      assert.match(stderr, /dsh: REPETITION: .*\(read\) 12 times in a row.*--continue/)
      assert.deepStrictEqual(ended(workspace), {
        kind: "aborted",
        reason: { kind: "repetition", tools: ["read"], times: 12 }
      })
      const requests = yield* workspace.server.requests
      assert.lengthOf(requests, 12)
      const reminders = requests.at(-1)?.request?.messages.filter(({ text }) => /times in a row/.test(text)) ?? []
      assert.deepStrictEqual(
        reminders.map(({ text }) => /\b(3|5|8) times in a row/.exec(text)?.[1]),
        ["3", "5", "8"]
      )
      yield* verified(workspace)
      const next = yield* workspace.run(["run", "--continue", "and now?"])
      assert.deepStrictEqual([next.code, next.stdout], [0, "stopped\n"])
    })
  )

  it.scopedLive("keeps to the limit that it is given", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.conversation([
          ...Array.from({ length: 14 }, () => call("glob", { pattern: "*.none" })),
          Reply.text("done")
        ])
      )
      const once = yield* workspace.run(["run", "look"], { env: { DSH_MAX_REPEATS: "2" } })
      assert.strictEqual(once.code, 1)
      assert.include(once.stderr, "(glob) 2 times in a row")
      const free = yield* workspace.run(["run", "look"], { env: { DSH_MAX_REPEATS: "0" } })
      assert.deepStrictEqual([free.code, free.stdout], [0, "done\n"])
      const wrong = yield* workspace.run(["run", "look"], { env: { DSH_MAX_REPEATS: "1" } })
      assert.strictEqual(wrong.code, 3)
      assert.include(wrong.stderr, `DSH_MAX_REPEATS is "1"`)
    })
  )

  it.scopedLive("ends thoughts that only repeat themselves, after one more try", () =>
    Effect.gen(function* () {
      const thought = `Wait, let me think about that again. ${"But what if it is the other way round? ".repeat(4)}\n`
      const workspace = yield* Workspace.make(
        Script.respond(() => Reply.text("ok", { reasoning: Array.from({ length: 120 }, () => thought) }))
      )
      const { code, stderr } = yield* workspace.run(["run", "think"])
      assert.strictEqual(code, 1)
      assert.include(stderr, "dsh: REPETITION_LOOP: the thoughts of the model repeat themselves")
      assert.lengthOf(yield* workspace.server.requests, 2)
      yield* verified(workspace)
    })
  )
})

describe("dsh run, with a long result", () => {
  const long = (mode: string) =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.conversation([
          bash("seq 1 10000; seq -f 'x%g' 1 2000"),
          (request) => {
            const [path] = /\/\S+-bash\.txt/.exec(resultsOf(request)) ?? [""]
            return Reply.toolCalls([
              { name: "read", arguments: { file_path: path, offset: 7000, limit: 1 } },
              { name: "grep", arguments: { pattern: "^6543$", path } },
              { name: "bash", arguments: { command: `wc -l < ${path}`, description: "Count" } }
            ])
          },
          Reply.text("done")
        ])
      )
      const { code, stderr } = yield* workspace.run(["run", "count"], { env: { DSH_PERMISSION_MODE: mode } })
      assert.strictEqual(code, 0, stderr)
      const [short = "", parts = ""] = yield* results(workspace)
      assert.isAtMost(Buffer.byteLength(short), 50_000)
      assert.match(short, /^1\n2\n[^]*\n\n\[\d+ of \d+ bytes are left out here; all of it is in \/[^]*x1999\nx2000$/)
      assert.match(parts, /7000: 7000\n[^]*Line 6543: 6543[^]*11999/)
      yield* verified(workspace)
    })

  it.scopedLive("puts it in a file, and the agent can look at parts of it", () => long("danger-full-access"))

  it.scopedLive.skipIf(!canConfine)("does so for a confined agent, too", () => long("workspace-write"))
})

describe("dsh run, with an agent that searches", () => {
  const search = (mode: string) =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.conversation([
          call("glob", { pattern: "**/*.ts" }),
          call("grep", { pattern: "needle", output: "files" }),
          call("grep", { pattern: "needle(", include: "*.ts" }),
          Reply.text("done")
        ])
      )
      mkdirSync(join(workspace.project, "src"))
      writeFileSync(join(workspace.project, "src/a.ts"), "needle(1)\n")
      writeFileSync(join(workspace.project, "b.md"), "a needle\n")
      writeFileSync(join(workspace.project, "c.log"), "needle\n")
      writeFileSync(join(workspace.project, ".gitignore"), "*.log\n")
      const { code, stderr } = yield* workspace.run(["run", "search"], { env: { DSH_PERMISSION_MODE: mode } })
      assert.strictEqual(code, 0, stderr)
      const [found, files, wrong] = yield* results(workspace)
      assert.deepStrictEqual([found, files], ["src/a.ts", "Found 2 files\n\nb.md\nsrc/a.ts"])
      assert.include(wrong ?? "", "unclosed group")
    })

  it.scopedLive("finds files by name and by what is in them", () => search("danger-full-access"))

  it.scopedLive.skipIf(!canConfine)("does so for a confined agent, too", () => search("read-only"))
})
