// What an agent of the command line may do to the machine it runs on.
import * as ChatRequest from "@dsh/testing/ChatRequest"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const canConfine = process.platform === "linux" && spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0

type Call = readonly [name: string, args: Readonly<Record<string, unknown>>]

const bash = (command: string): Call => ["bash", { command, description: "Do it" }]

/** Makes the calls one by one, then says what came of each. */
const doing = (...calls: ReadonlyArray<Call>) =>
  Script.sequence([
    ...calls.map(([name, args], i) => Reply.toolCalls([{ id: `c${i}`, name, arguments: args }])),
    Reply.text("done")
  ])

const results = (workspace: Workspace.Workspace) =>
  Effect.map(workspace.server.requests, (requests) =>
    requests.slice(1).map(({ request }) =>
      request === undefined
        ? ""
        : ChatRequest.pendingResults(request)
            .map(({ text }) => text)
            .join()
    )
  )

const mode = (value: string) => ({ env: { DSH_PERMISSION_MODE: value } })

describe.skipIf(!canConfine)(`dsh run, confined${canConfine ? "" : ": skipped, bubblewrap is not there"}`, () => {
  it.scopedLive("changes its workspace and its /tmp, sees no secrets, and tells the model what was denied", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        doing(
          bash("echo a > made.txt; echo kept > /tmp/note"),
          bash("echo b > ../home/outside.txt"),
          ["write", { file_path: "../home/outside.txt", content: "c" }],
          bash(`cat ../home/.credentials.yaml; ls -A ../home/sessions; env | grep KEY`),
          ["read", { file_path: "../home/.credentials.yaml" }],
          ["read", { file_path: "/tmp/note" }],
          bash("cat /tmp/note")
        )
      )
      mkdirSync(workspace.home, { recursive: true })
      writeFileSync(join(workspace.home, ".credentials.yaml"), "sk-secret", { mode: 0o600 })
      const { code, stderr } = yield* workspace.run(["run", "work"], mode(""))
      assert.strictEqual(code, 0, stderr)
      const [made, outside, written, secrets, credentials, note, kept] = yield* results(workspace)
      assert.strictEqual(made, "(no output)")
      assert.strictEqual(readFileSync(join(workspace.project, "made.txt"), "utf8"), "a\n")
      // Under /tmp, where this test has its folders, all but the workspace is the session's own.
      assert.match(outside ?? "", /No such file or directory|\[denied by the sandbox: its mode is workspace-write\]/)
      assert.isFalse(existsSync(join(workspace.home, "outside.txt")))
      assert.isString(written)
      assert.notMatch(`${secrets}${credentials}`, /sk-secret|session-/)
      assert.include(note ?? "", "1: kept")
      assert.strictEqual(kept, "kept")
    })
  )

  it.scopedLive("in mode read-only changes nothing, and says so", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        doing(bash("echo a > made.txt"), ["write", { file_path: "made.txt", content: "c" }])
      )
      const { code } = yield* workspace.run(["run", "work"], mode("read-only"))
      assert.strictEqual(code, 0)
      const [command, write] = yield* results(workspace)
      assert.match(
        command ?? "",
        /Read-only file system\n\[denied by the sandbox: its mode is read-only\]\n\[exit code: 1\]$/
      )
      assert.match(write ?? "", /made\.txt cannot be changed: nothing but \/tmp can in mode read-only/)
      assert.isFalse(existsSync(join(workspace.project, "made.txt")))
      const [{ request } = { request: undefined }] = yield* workspace.server.requests
      assert.isTrue(request?.messages.some(({ text }) => text.includes("Sandbox: read-only.")))
    })
  )

  it.scopedLive("finds all of a long output again, by tool and by command, and takes it along when it ends", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        doing(
          bash("seq 1 30000"),
          bash("wc -l < /tmp/dsh-stdout-*.log; ls -l /tmp/dsh-stdout-*.log | cut -c1-10"),
          ["grep", { pattern: "^12345$", path: "/tmp" }],
          ["bash", { command: "pwd", description: "Do it", workdir: "nowhere" }],
          bash("exec no-such-program")
        )
      )
      const { code, stderr } = yield* workspace.run(["run", "work"], mode("workspace-write"))
      assert.strictEqual(code, 0, stderr)
      const [long, found, searched, nowhere, unknown] = yield* results(workspace)
      assert.match(long ?? "", /full output: \/tmp\/dsh-stdout-[\w-]+\.log\]$/)
      assert.strictEqual(found, "30000\n-rw-------")
      assert.match(searched ?? "", /\/tmp\/dsh-stdout-[\w-]+\.log\nLine 12345: 12345/)
      assert.match(nowhere ?? "", /the working directory .*nowhere does not exist/)
      assert.notInclude(nowhere, "bubblewrap")
      assert.match(unknown ?? "", /\[exit code: 127\]$/)
      // What the log names is kept, what commands printed is not.
      const [session = ""] = workspace.sessions()
      const kept = readdirSync(join(tmpdir(), `dsh-tmp-${process.getuid?.()}`, session))
      assert.strictEqual(kept.filter((name) => /^dsh-std|-bash\.txt$/.test(name)).length, 1, kept.join())
    })
  )

  it.scopedLive("commits to a repository, and cannot plant what runs outside", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        doing(
          bash(
            "echo a > a.txt && git add a.txt && git -c user.name=a -c user.email=a@b commit -qm first && git log --oneline | wc -l"
          ),
          bash("echo 'touch /x' > .git/hooks/post-commit"),
          ["write", { file_path: ".git/hooks/post-commit", content: "touch /x" }]
        )
      )
      execFileSync("git", ["init", "-q", workspace.project])
      assert.strictEqual((yield* workspace.run(["run", "work"], mode("workspace-write"))).code, 0)
      const [committed, planted, written] = yield* results(workspace)
      assert.strictEqual(committed, "1")
      assert.include(planted ?? "", "[denied by the sandbox")
      assert.include(written ?? "", "programs outside of the sandbox act on it")
      assert.isFalse(existsSync(join(workspace.project, ".git/hooks/post-commit")))
    })
  )
})

describe("dsh run, where nothing can confine", () => {
  /** A PATH with a shell and without bubblewrap. */
  const without = (workspace: Workspace.Workspace) => {
    const bin = join(workspace.home, "..", "bin")
    mkdirSync(bin)
    for (const name of ["bash", "node"]) {
      symlinkSync(
        name === "node" ? process.execPath : execFileSync("which", [name], { encoding: "utf8" }).trim(),
        join(bin, name)
      )
    }
    return bin
  }

  it.scopedLive("refuses to run commands, and says how to go on", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(doing(bash("echo a > made.txt")))
      const PATH = without(workspace)
      const { code } = yield* workspace.run(["run", "work"], { env: { PATH, DSH_PERMISSION_MODE: "" } })
      assert.strictEqual(code, 0)
      const [refused] = yield* results(workspace)
      assert.match(
        refused ?? "",
        /cannot be confined because "bwrap" is not there; install bubblewrap .*DSH_PERMISSION_MODE=danger-full-access/
      )
      assert.isFalse(existsSync(join(workspace.project, "made.txt")))
    })
  )

  it.scopedLive("runs them when it is told to, knowingly", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(doing(bash("echo a > made.txt")))
      const PATH = without(workspace)
      yield* workspace.run(["run", "work"], { env: { PATH, DSH_PERMISSION_MODE: "danger-full-access" } })
      assert.isTrue(existsSync(join(workspace.project, "made.txt")))
    })
  )

  it.scopedLive("a mode that is none is refused before anything starts", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(doing())
      const { code, stderr } = yield* workspace.run(["run", "work"], mode("everything"))
      assert.strictEqual(code, 3)
      assert.match(
        stderr,
        /^dsh: INVALID_CONFIG: DSH_PERMISSION_MODE is "everything"; it is one of read-only, workspace-write, /
      )
    })
  )
})

describe("dsh run, where a command finds a key", () => {
  for (const preset of ["danger-full-access", ...(canConfine ? ["workspace-write"] : [])]) {
    it.scopedLive(`in mode ${preset} shows it neither to the model nor to the log`, () =>
      Effect.gen(function* () {
        const token = "tok-0123456789abcdef"
        const workspace = yield* Workspace.make(
          doing(
            bash("env | grep -i -e key -e pass -e pat"),
            bash("tr '\\0' '\\n' < /proc/$PPID/environ"),
            bash(`echo found ${Workspace.key} and ${token}`),
            ["read", { file_path: "keys.txt" }]
          )
        )
        writeFileSync(join(workspace.project, "keys.txt"), `key: ${Workspace.key}\n`)
        const { code, stderr } = yield* workspace.run(["run", "--permission", preset, "look"], {
          env: { DB_PASSPHRASE: token, GH_PAT: token }
        })
        assert.strictEqual(code, 0, stderr)
        const [inherited, , printed, read] = yield* results(workspace)
        assert.notMatch(inherited ?? "", /DEEPSEEK|PASSPHRASE|GH_PAT/)
        assert.strictEqual(printed, "found [redacted] and [redacted]")
        assert.include(read ?? "", "1: key: [redacted]")
        const [id = ""] = workspace.sessions()
        const log = workspace.log(id)
        const shown = log.filter(({ type }) => type === "tool/result")
        assert.lengthOf(shown, 4)
        assert.notMatch(JSON.stringify(shown), new RegExp(`${Workspace.key}|${token}`))
      })
    )
  }
})
