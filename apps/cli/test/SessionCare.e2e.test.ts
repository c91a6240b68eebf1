// Looking after stored sessions with the real command: check, repair, fork, export, delete.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

/** A command, then an answer, for each task. */
const script = Script.respond(({ messages }) =>
  messages.at(-1)?.role === "tool"
    ? Reply.text("done")
    : Reply.toolCalls([{ name: "bash", arguments: { command: "echo hi", description: "Say hi" } }])
)

const started = Effect.gen(function* () {
  const workspace = yield* Workspace.make(script)
  assert.strictEqual((yield* workspace.run(["run", "first"])).code, 0)
  const [id = ""] = workspace.sessions()
  const [project = ""] = readdirSync(join(workspace.home, "sessions"))
  const file = join(workspace.home, "sessions", project, id, "session.jsonl")
  const lines = () => readFileSync(file, "utf8").trimEnd().split("\n")
  const damage = (change: (lines: Array<string>) => ReadonlyArray<string>) =>
    writeFileSync(file, `${change(lines()).join("\n")}\n`)
  return {
    workspace,
    id,
    file,
    lines,
    damage,
    session: (...args: ReadonlyArray<string>) => workspace.run(["session", ...args])
  }
})

const withType = (lines: ReadonlyArray<string>, type: string) =>
  lines.findIndex((line) => line.includes(`"type":"${type}"`))

describe("dsh session check and repair", () => {
  it.scopedLive("say nothing about a sound log, a continued one included", () =>
    Effect.gen(function* () {
      const { id, lines, session, workspace } = yield* started
      assert.strictEqual((yield* workspace.run(["run", "--continue", "second"])).code, 0)
      const before = lines()
      assert.deepInclude(yield* session("check", id), { code: 0, stdout: "the log is sound\n", stderr: "" })
      assert.deepInclude(yield* session("check", id, "--json"), { code: 0, stdout: "" })
      assert.include((yield* session("repair", id)).stdout, "nothing to repair")
      assert.deepStrictEqual(lines(), before)
    })
  )

  it.scopedLive("name a bad line, keep all the rest, and the session goes on and verifies", () =>
    Effect.gen(function* () {
      const { damage, file, id, lines, session, workspace } = yield* started
      const whole = lines()
      const bad = withType(whole, "tool/result")
      damage((all) => all.with(bad, "oops"))
      const damaged = readFileSync(file, "utf8")
      const refused = yield* session("show", id)
      assert.strictEqual(refused.code, 1)
      assert.include(refused.stderr, `line ${bad + 1} is bad`)
      assert.include(refused.stderr, '"dsh session repair" repairs it')

      const checked = yield* session("check", id)
      assert.strictEqual(checked.code, 1)
      assert.include(checked.stdout, `line ${bad + 1}  RECORD_UNREADABLE  it is not JSON (a repair leaves it out)`)
      assert.include(checked.stdout, "a tool/result must have been here (a repair writes one that says so)")
      const asJson = (yield* session("check", id, "--json")).stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
      assert.deepStrictEqual(asJson[0], {
        code: "RECORD_UNREADABLE",
        place: `line ${bad + 1}`,
        message: "it is not JSON",
        repair: "leaves it out"
      })
      assert.strictEqual(readFileSync(file, "utf8"), damaged)

      const repaired = yield* session("repair", id)
      assert.strictEqual(repaired.code, 0)
      assert.include(repaired.stdout, `kept in ${file}.backup-1`)
      assert.strictEqual(readFileSync(`${file}.backup-1`, "utf8"), damaged)
      assert.strictEqual(lines().length, whole.length)
      assert.deepInclude(yield* session("check", id), { code: 0 })
      const going = yield* workspace.run(["run", "--check-invariants", "--continue", "second"])
      assert.strictEqual(going.code, 0, going.stderr)
      const verified = yield* session("verify", id)
      assert.strictEqual(verified.code, 0)
      assert.include(verified.stdout, "4 requests, 3 rebuilt byte for byte from the log, 1 without what is lost")
    })
  )

  it.scopedLive("a log without its header gets one, and keeps its events", () =>
    Effect.gen(function* () {
      const { damage, id, session } = yield* started
      damage((all) => all.slice(1))
      assert.include((yield* session("check", id)).stdout, "the header  HEADER_UNREADABLE")
      assert.strictEqual((yield* session("repair", id)).code, 0)
      assert.strictEqual((yield* session("verify", id)).code, 0)
    })
  )

  it.scopedLive("numbers that do not follow each other are read by the rule, said, and repaired", () =>
    Effect.gen(function* () {
      const { damage, id, lines, session, workspace } = yield* started
      const seed = withType(lines(), "turn/end")
      damage((all) => [...all.slice(0, seed), all[seed]!.replace('"completed"', '"blocked"'), ...all.slice(seed)])
      const shown = yield* session("show", id)
      assert.strictEqual(shown.code, 0)
      assert.include(shown.stderr, `line ${seed + 1} holds event`)
      assert.include(shown.stderr, `dsh session check ${id}`)
      const going = yield* workspace.run(["run", "--continue", "second"])
      assert.strictEqual(going.code, 0)
      assert.include(going.stderr, `line ${seed + 1} holds event`)
      assert.strictEqual((yield* session("repair", id)).code, 0)
      assert.deepInclude(yield* session("verify", id), { code: 0, stderr: "" })
      const listed = yield* session("list")
      assert.strictEqual(listed.stderr, "")
    })
  )
})

for (const store of ["jsonl", "sqlite"]) {
  const env = { DSH_SESSION_STORE: store }
  describe(`dsh session, sessions in ${store}`, () => {
    it.scopedLive("fork, export, check and delete", () =>
      Effect.gen(function* () {
        const workspace = yield* Workspace.make(script)
        const dsh = (...args: ReadonlyArray<string>) => workspace.run(args, { env })
        const ids = Effect.map(dsh("session", "list", "--json"), ({ stdout }) =>
          stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).id as string]))
        )
        yield* dsh("run", "first")
        const [id = ""] = yield* ids
        const exported = yield* dsh("session", "export", id)
        const records = exported.stdout
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line))
        assert.deepInclude(records[0], { type: "session", id })
        assert.strictEqual(records.at(-1).type, "turn/end")

        const fork = (yield* dsh("session", "fork", id)).stdout.trim()
        const early = yield* dsh("session", "fork", `${id}@6`)
        assert.deepInclude(early, { code: 1, stdout: "" })
        assert.include(early.stderr, "OPEN_TURN")
        assert.strictEqual((yield* dsh("run", "--session", fork, "go on")).code, 0)
        for (const each of [id, fork]) {
          assert.deepInclude(yield* dsh("session", "check", each), { code: 0 })
          assert.strictEqual((yield* dsh("session", "verify", each)).code, 0)
        }

        const asked = yield* dsh("session", "delete", id)
        assert.strictEqual(asked.code, 2)
        assert.include(asked.stderr, "--yes")
        assert.deepInclude(yield* dsh("session", "delete", id, "--yes"), { code: 0, stdout: "" })
        assert.deepStrictEqual(yield* ids, [fork])
        const gone = yield* dsh("session", "delete", id, "--yes")
        assert.deepInclude(gone, { code: 1 })
        assert.include(gone.stderr, "SESSION_NOT_FOUND")
        if (store === "jsonl") {
          const [project = ""] = readdirSync(join(workspace.home, "sessions"))
          assert.isFalse(existsSync(join(workspace.home, "sessions", project, id)))
        }
        // A fork has all of its history.
        assert.strictEqual((yield* dsh("session", "verify", fork)).code, 0)
      })
    )
  })
}
