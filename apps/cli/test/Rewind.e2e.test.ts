// Going back to earlier turns with the real command, on sessions that other processes made.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { execFileSync } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import * as Fs from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

/** What each task does in a command, then an answer. */
const commands: Readonly<Record<string, string>> = {
  first: "printf 'one\\ntwo\\n' > a; printf x > b; chmod 755 b",
  second: "printf 'one\\n2\\n' > a; rm b; mkdir -p 'new folder'; printf new > 'new folder/ü'",
  third: "printf third > c",
  many: "for i in $(seq 500); do echo $i > f$i; done; mkdir d; for i in $(seq 100); do echo $i > d/$i; done",
  change: "for i in $(seq 500); do echo changed > f$i; done; rm -r d",
  slow: "echo started; sleep 60"
}

const script = Script.respond(({ messages }) => {
  const at = messages.findLastIndex(({ text }) => Object.hasOwn(commands, text))
  const command = commands[messages[at]?.text ?? ""]
  return command === undefined || messages.slice(at).some(({ role }) => role === "tool")
    ? Reply.text("done")
    : Reply.toolCalls([{ name: "bash", arguments: { command, description: "Change files" } }])
})

const started = (...tasks: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const workspace = yield* Workspace.make(script)
    for (const [n, task] of tasks.entries()) {
      const { code, stderr } = yield* workspace.run(["run", ...(n === 0 ? [] : ["--continue"]), task])
      assert.strictEqual(code, 0, stderr)
    }
    const [id = ""] = workspace.sessions()
    const session = (...args: ReadonlyArray<string>) => workspace.run(["session", ...args])
    const at = (name: string) => join(workspace.project, name)
    return { workspace, id, session, at, text: (name: string) => Fs.readFileSync(at(name), "utf8") }
  })

/** The texts of what the model was sent last. */
const lastAsked = ({ server }: Workspace.Workspace) =>
  Effect.map(server.requests, (requests) => requests.at(-1)?.request?.messages.map(({ text }) => text) ?? [])

describe("dsh session diff", () => {
  it.scopedLive("prints what a turn changed, as a patch that git applies", () =>
    Effect.gen(function* () {
      const { at, id, session, workspace } = yield* started("first", "second")
      const { code, stderr, stdout } = yield* session("diff", `${id}@2`)
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.include(stdout, "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n")
      assert.include(stdout, "diff --git a/b b/b\ndeleted file mode 100755\n")
      execFileSync("git", ["init", "-q"], { cwd: workspace.project })
      execFileSync("git", ["apply", "-R", "-"], { cwd: workspace.project, input: stdout })
      assert.strictEqual(Fs.readFileSync(at("a"), "utf8"), "one\ntwo\n")
      assert.strictEqual(Fs.readFileSync(at("b"), "utf8"), "x")
      assert.strictEqual(Fs.statSync(at("b")).mode & 0o777, 0o755)
      assert.isFalse(Fs.existsSync(at("new folder/ü")))
    })
  )

  it.scopedLive("prints all of a session, and JSON", () =>
    Effect.gen(function* () {
      const { id, session } = yield* started("first", "second")
      const { stdout } = yield* session("diff", id, "--json")
      const files = stdout
        .trimEnd()
        .split("\n")
        .map((line): unknown => JSON.parse(line))
      assert.deepStrictEqual(
        files.map((file) => Object.keys(file as object)),
        files.map(() => ["path", "before", "after", "patch"])
      )
      assert.deepStrictEqual(
        files.map((file) => (file as { readonly path: string }).path),
        ["a", "new folder", "new folder/ü"]
      )
      assert.include((yield* session("diff", `${id}@7`)).stderr, "dsh: REWIND_NO_SUCH_TURN: ")
      assert.include((yield* session("diff", "nobody")).stderr, "dsh: SESSION_NOT_FOUND: ")
    })
  )
})

describe("dsh session rewind", () => {
  it.scopedLive("says what it would do, does it, goes on from there, verifies, and is taken back", () =>
    Effect.gen(function* () {
      const { at, id, session, text, workspace } = yield* started("first", "second", "third")
      const before = workspace.log(id)
      const dry = yield* session("rewind", `${id}@1`, "--dry-run")
      assert.strictEqual(
        dry.stdout,
        [
          `session ${id}, back to what was at the end of turn 1:`,
          "  forget   turns 2, 3 of the conversation",
          "  restore  a",
          "  create   b",
          "  delete   c",
          "  delete   new folder",
          "  delete   new folder/ü",
          ""
        ].join("\n")
      )
      const asked = yield* session("rewind", `${id}@1`)
      assert.deepInclude(asked, { code: 2, stdout: "" })
      assert.include(asked.stderr, "--yes")
      assert.deepStrictEqual(workspace.log(id), before)
      assert.strictEqual(text("a"), "one\n2\n")

      const done = yield* session("rewind", `${id}@1`, "--yes")
      assert.strictEqual(done.code, 0, done.stderr)
      assert.include(done.stderr, `dsh session rewind ${id}@3\n`)
      assert.strictEqual(text("a"), "one\ntwo\n")
      assert.strictEqual(Fs.statSync(at("b")).mode & 0o777, 0o755)
      assert.deepStrictEqual(Fs.readdirSync(workspace.project).sort(), ["a", "b"])
      // Only grown.
      assert.deepStrictEqual(workspace.log(id).slice(0, before.length), before)

      assert.strictEqual((yield* workspace.run(["run", "--session", id, "again"])).code, 0)
      const request = yield* lastAsked(workspace)
      assert.include(request, "first")
      assert.notInclude(request, "second")
      assert.deepInclude(yield* session("verify", id), { code: 0, stderr: "" })
      assert.deepInclude(yield* session("check", id), { code: 0 })
      assert.include((yield* session("show", id)).stdout, "(rewound to the end of turn 1)")
      const fork = (yield* session("fork", id)).stdout.trim()
      assert.deepInclude(yield* session("verify", fork), { code: 0, stderr: "" })

      assert.strictEqual((yield* session("rewind", `${id}@3`, "--yes")).code, 0)
      assert.deepStrictEqual(Fs.readdirSync(workspace.project).sort(), ["a", "c", "new folder"])
      assert.strictEqual((yield* workspace.run(["run", "--session", id, "and again"])).code, 0)
      assert.include(yield* lastAsked(workspace), "second")
      assert.notInclude(yield* lastAsked(workspace), "again")
      assert.deepInclude(yield* session("verify", id), { code: 0, stderr: "" })
    })
  )

  it.scopedLive("without a turn goes back before the last one, and of one half leaves the other", () =>
    Effect.gen(function* () {
      const { at, id, session, text, workspace } = yield* started("first", "second")
      assert.strictEqual((yield* session("rewind", id, "--conversation", "--yes")).code, 0)
      assert.strictEqual(text("a"), "one\n2\n")
      const nothing = yield* session("rewind", `${id}@1`, "--conversation", "--yes")
      assert.deepInclude(nothing, { code: 0, stdout: "" })
      assert.strictEqual((yield* session("rewind", `${id}@1`, "--files", "--yes")).code, 0)
      assert.strictEqual(text("a"), "one\ntwo\n")
      assert.strictEqual((yield* workspace.run(["run", "--session", id, "again"])).code, 0)
      assert.match((yield* lastAsked(workspace)).at(-2) ?? "", /put these files back .* at the end of turn 1: a, b, /)
      assert.strictEqual((yield* session("rewind", `${id}@0`, "--yes")).code, 0)
      assert.isFalse(Fs.existsSync(at("a")))
      assert.include((yield* session("rewind", id, "--yes")).stderr, "there is no turn")
      assert.include((yield* session("rewind", `${id}@9`, "--yes")).stderr, "dsh: REWIND_NO_SUCH_TURN: ")
    })
  )

  it.scopedLive("leaves what somebody else changed, says so with exit code 1, and goes over it when forced", () =>
    Effect.gen(function* () {
      const { at, id, session, text } = yield* started("first", "second")
      Fs.writeFileSync(at("a"), "mine")
      const left = yield* session("rewind", `${id}@1`, "--yes")
      assert.strictEqual(left.code, 1)
      assert.include(left.stdout, "  leave    a: somebody else changed it after turn 2; --force goes over that\n")
      assert.strictEqual(text("a"), "mine")
      assert.strictEqual(text("b"), "x")
      assert.strictEqual((yield* session("rewind", `${id}@1`, "--force", "--yes")).code, 0)
      assert.strictEqual(text("a"), "one\ntwo\n")
    })
  )

  it.scopedLive("refuses a session that another process works with, and says which", () =>
    Effect.gen(function* () {
      const { id, session, workspace } = yield* started("first")
      const busy = yield* Deferred.make<ChildProcess>()
      const known = workspace.log(id).length
      const isBusy = () =>
        workspace
          .log(id)
          .slice(known)
          .some(({ type }) => type === "tool/call")
      const running = yield* Effect.fork(
        workspace.run(["run", "--session", id, "slow"], {
          onStart: (child) => {
            const looking = setInterval(() => {
              if (!isBusy()) return
              clearInterval(looking)
              Deferred.unsafeDone(busy, Effect.succeed(child))
            }, 50)
            child.once("close", () => clearInterval(looking))
          }
        })
      )
      const child = yield* Deferred.await(busy)
      const refused = yield* session("rewind", `${id}@0`, "--yes")
      child.kill("SIGTERM")
      yield* Fiber.join(running)
      assert.strictEqual(refused.code, 1)
      assert.match(refused.stderr, new RegExp(`dsh: SESSION_IN_USE: .*${child.pid}`))
    })
  )

  it.scopedLive("that is killed in the middle loses nothing: it is done by doing it again, and taken back", () =>
    Effect.gen(function* () {
      const { id, session, workspace } = yield* started("many", "change")
      const { project } = workspace
      const now = () =>
        new Map(
          Fs.readdirSync(project, { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile())
            .map((entry) => join(entry.parentPath, entry.name))
            .sort()
            .map((path) => [path, Fs.readFileSync(path, "utf8")])
        )
      const changed = now()
      assert.strictEqual(changed.size, 500)
      let halves = 0
      for (const wanted of [1, 300]) {
        yield* workspace.run(["session", "rewind", `${id}@1`, "--yes"], {
          onStart: (child) => {
            let seen = 0
            const watcher = Fs.watch(project, () => {
              if (++seen < wanted) return
              child.kill("SIGKILL")
              watcher.close()
            })
            child.once("close", () => watcher.close())
          }
        })
        const half = [...now()].filter(([path, text]) => changed.get(path) === text).length
        if (half > 0 && half < 500) halves++
        assert.strictEqual((yield* session("rewind", `${id}@1`, "--yes")).code, 0)
        const back = now()
        assert.strictEqual(back.size, 600)
        for (const [path, text] of back) assert.strictEqual(`${text.trim()}`, path.replace(/^.*[f/](\d+)$/, "$1"))
        const { code, stderr } = yield* session("rewind", `${id}@2`, "--yes")
        assert.strictEqual(code, 0, stderr)
        assert.deepStrictEqual(now(), changed)
      }
      assert.isAbove(halves, 0, "no process was killed in the middle of its work")
      assert.deepInclude(yield* session("check", id), { code: 0 })
      assert.deepInclude(yield* session("verify", id), { code: 0, stderr: "" })
    })
  )

  it.scopedLive("takes what was kept of files away with the session", () =>
    Effect.gen(function* () {
      const { id, session, workspace } = yield* started("first")
      const kept = () => Fs.readdirSync(join(workspace.home, "rewind", "sessions"))
      assert.deepStrictEqual(kept(), [id])
      const fork = (yield* session("fork", id)).stdout.trim()
      assert.strictEqual((yield* session("delete", id, "--yes")).code, 0)
      // The copy can still be rewound.
      assert.deepStrictEqual(kept(), [id])
      assert.strictEqual((yield* session("rewind", `${fork}@0`, "--yes")).code, 0)
      assert.deepStrictEqual(Fs.readdirSync(workspace.project), [])
    })
  )
})
