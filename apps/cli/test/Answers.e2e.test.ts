// Answers that have to fit a schema, work in the background, and calls that nobody allows.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { read } from "./support/JsonLines.ts"
import { sh } from "./support/Shell.ts"
import * as Workspace from "./support/Workspace.ts"

const bash = (command: string, more: object = {}) => ({
  name: "bash",
  arguments: { command, description: "Run a command", ...more }
})
const inBackground = { run_in_background: true }
const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] }

const withSchema = (workspace: Workspace.Workspace, text = JSON.stringify(schema)) =>
  writeFileSync(join(workspace.project, "schema.json"), text)

const verified = (workspace: Workspace.Workspace) =>
  Effect.gen(function* () {
    const { code, stdout } = yield* workspace.run(["session", "verify", workspace.sessions()[0]!])
    assert.strictEqual(code, 0, stdout)
  })

describe("dsh run --output-schema", () => {
  it.scopedLive("tells the model, and prints the answer that fits", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([Reply.text('```json\n{"ok": true}\n```')]))
      withSchema(workspace)
      const { code, stderr, stdout } = yield* workspace.run(["run", "--output-schema", "schema.json", "well?"])
      assert.deepStrictEqual([code, stdout, stderr], [0, '{"ok": true}\n', ""])
      const [first] = yield* workspace.server.requests
      assert.include(first?.body.toString(), JSON.stringify(JSON.stringify(schema)).slice(1, -1))
      yield* verified(workspace)
    })
  )

  it.scopedLive("sends an answer back that does not fit, with what is wrong", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.sequence([Reply.text("It is fine."), Reply.text('{"ok":"yes"}'), Reply.text('{"ok":true}')])
      )
      withSchema(workspace)
      const { code, stderr, stdout } = yield* workspace.run(["run", "--json", "--output-schema=schema.json", "well?"])
      assert.strictEqual(code, 0, stderr)
      const { result } = read(stdout)
      assert.deepStrictEqual([result.answer, result.output], ['{"ok":true}', { ok: true }])
      assert.match(
        stderr,
        /does not fit its schema: it is no JSON .*asked again, 1 of 2\n.*\/ok must be boolean; asked again, 2 of 2\n$/
      )
      const [, , third] = yield* workspace.server.requests
      assert.include(third?.request?.messages.at(-1)?.text, "/ok must be boolean")
      yield* verified(workspace)
    })
  )

  it.scopedLive("gives up in the end, and prints nothing that could be taken for an answer", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([Reply.text("no")], "last"))
      withSchema(workspace)
      for (const [args, requests] of [
        [[], 3],
        [["--output-retries=0"], 4]
      ] as const) {
        const { code, stderr, stdout } = yield* workspace.run(["run", "--output-schema=schema.json", ...args, "well?"])
        assert.deepStrictEqual([code, stdout], [1, ""])
        assert.match(stderr, /dsh: OUTPUT_MISMATCH: the answer does not fit its schema: it is no JSON .*\n$/)
        assert.strictEqual((yield* workspace.server.requests).length, requests)
      }
    })
  )

  it.scopedLive("shares the budget with the answers it sends back", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([Reply.text("no")], "last"))
      withSchema(workspace)
      const { code } = yield* workspace.run(["run", "--output-schema=schema.json", "--max-steps=2", "well?"])
      assert.strictEqual(code, 124)
      assert.strictEqual((yield* workspace.server.requests).length, 2)
    })
  )

  for (const [what, text] of [
    ["no JSON", "{"],
    ["no schema", '{"type":"objct"}'],
    ["not there", undefined]
  ] as const) {
    it.scopedLive(`asks nothing when the schema is ${what}`, () =>
      Effect.gen(function* () {
        const workspace = yield* Workspace.make(Script.sequence([]))
        if (text !== undefined) withSchema(workspace, text)
        const { code, stderr, stdout } = yield* workspace.run(["run", "--json", "--output-schema=schema.json", "well?"])
        assert.strictEqual(code, 3)
        assert.match(stderr, /^dsh: INVALID_OUTPUT_SCHEMA: /)
        assert.strictEqual(read(stdout).result.error?.code, "INVALID_OUTPUT_SCHEMA")
        assert.strictEqual((yield* workspace.server.requests).length, 0)
      })
    )
  }
})

describe("dsh run, with work in the background", () => {
  const started = Reply.toolCalls([bash("echo $$ > pid; sleep 1.5; touch finished", inBackground)])

  it.scopedLive("ends it, and says so", () =>
    Effect.gen(function* () {
      const long = Reply.toolCalls([bash("echo $$ > pid; exec sleep 600", inBackground)])
      const ready = Reply.toolCalls([bash("while [ ! -s pid ]; do sleep 0.02; done")])
      const workspace = yield* Workspace.make(Script.sequence([long, ready, Reply.text("begun")]))
      const { code, stderr, stdout } = yield* workspace.run(["run", "--json", "begin"])
      assert.strictEqual(code, 0, stderr)
      assert.match(
        stderr,
        /^dsh: still running in the background, and ended with the run: bash-1 \(.*\); --wait-background/
      )
      assert.deepStrictEqual(read(stdout).result.unfinishedJobs, ["bash-1"])
      const pid = readFileSync(join(workspace.project, "pid"), "utf8").trim()
      assert.isFalse(existsSync(`/proc/${pid}`))
    })
  )

  it.scopedLive("waits for it when asked to, and for what the agent says of it", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([started, Reply.text("begun"), Reply.text("it is over")]))
      const { code, stderr, stdout } = yield* workspace.run(["run", "--wait-background", "begin"])
      assert.deepStrictEqual([code, stdout, stderr], [0, "it is over\n", ""])
      assert.isTrue(existsSync(join(workspace.project, "finished")))
      yield* verified(workspace)
    })
  )

  it.scopedLive("waits no longer than it may", () =>
    Effect.gen(function* () {
      const long = Reply.toolCalls([bash("exec sleep 600", inBackground)])
      const workspace = yield* Workspace.make(Script.sequence([long, Reply.text("begun")]))
      const { code, stderr, stdout } = yield* workspace.run(["run", "--wait-background", "--timeout=3", "begin"])
      assert.deepStrictEqual([code, stdout], [124, "begun\n"], stderr)
      assert.match(stderr, /dsh: BUDGET: the budget of 3 seconds is spent/)
    })
  )
})

describe("dsh run, when nobody allows what it wants", () => {
  const rules = "permission:\n  rules:\n    deny:\n      - bash(rm *)\n"
  const denied = Reply.toolCalls([bash("rm x")])
  const given = (workspace: Workspace.Workspace) =>
    Effect.gen(function* () {
      yield* sh(workspace, `mkdir -p "$DSH_HOME"`)
      writeFileSync(join(workspace.home, "settings.yaml"), rules)
    })

  it.scopedLive("has failed when every call was denied", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([denied, Reply.text("could not")]))
      yield* given(workspace)
      const { code, stderr, stdout } = yield* workspace.run(["run", "--json", "clean"])
      const { lines, result } = read(stdout)
      assert.strictEqual(code, 1)
      assert.deepInclude(result, { status: "failed", answer: "could not", toolCalls: { total: 1, denied: 1 } })
      assert.strictEqual(result.error?.code, "ALL_DENIED")
      assert.deepInclude(
        lines.find(({ type }) => type === "denied"),
        { code: "PERMISSION_DENIED" }
      )
      assert.match(
        stderr,
        /^dsh: PERMISSION_DENIED: bash: .*\ndsh: ALL_DENIED: the only tool call of the run was denied; /
      )
    })
  )

  it.scopedLive("has done what it could when only some were", () =>
    Effect.gen(function* () {
      const both = Reply.toolCalls([bash("rm x"), { name: "read", arguments: { file_path: "x" } }])
      const workspace = yield* Workspace.make(Script.sequence([both, Reply.text("done")]))
      yield* given(workspace)
      writeFileSync(join(workspace.project, "x"), "x")
      const { code, stdout } = yield* workspace.run(["run", "--json", "clean"])
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(read(stdout).result.toolCalls, { total: 2, denied: 1 })
    })
  )
})
