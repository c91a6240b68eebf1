import { AmbientEnv } from "@dsh/world/AmbientEnv"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as TestContext from "effect/TestContext"
import * as TestServices from "effect/TestServices"
import * as NodeFs from "node:fs"
import * as Path from "node:path"
import { Shell } from "../src/Shell.ts"
import type { ShellRequest } from "../src/Shell.ts"
import { bash, eventually, tempDir } from "./support.ts"

const run = (command: string, request: Partial<ShellRequest> = {}) =>
  Effect.flatMap(Shell, (shell) => shell.run({ command, cwd: "/", ...request }))

const exists = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const whole = (text: string) => ({ text, truncated: false, totalBytes: Buffer.byteLength(text) })

describe("BashLocal", () => {
  it.live("returns output and status; a command that fails has a result like any other", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run("echo out; echo err >&2; exit 3"), {
        exitCode: 3,
        signal: null,
        timedOut: false,
        timeoutMs: 120_000,
        stdout: whole("out\n"),
        stderr: whole("err\n"),
        pipeHeld: false
      })
      assert.deepInclude(yield* run("kill -KILL $$"), { exitCode: null, signal: "SIGKILL", timedOut: false })
      // Not an option of bash.
      assert.strictEqual((yield* run("-l")).exitCode, 127)
    }).pipe(Effect.provide(bash()))
  )

  it.live("starts in the folder it is told, every time anew", () =>
    Effect.gen(function* () {
      const cwd = yield* tempDir
      yield* run("mkdir sub; cd sub; export LEFT=over", { cwd })
      assert.strictEqual((yield* run("pwd; echo ${LEFT-nothing}", { cwd })).stdout.text, `${cwd}\nnothing\n`)
    }).pipe(Effect.scoped, Effect.provide(bash()))
  )

  it.live("says why nothing ran", () =>
    Effect.gen(function* () {
      const codeOf = (command: string, request?: Partial<ShellRequest>) =>
        Effect.map(Effect.flip(run(command, request)), (error) => error.code)
      assert.strictEqual(yield* codeOf("true", { cwd: "/no/such/folder" }), "SHELL_CWD_NOT_FOUND")
      assert.strictEqual(yield* codeOf("true", { timeoutMs: 0 }), "SHELL_INVALID_REQUEST")
      assert.strictEqual(yield* codeOf("true", { timeoutMs: Number.NaN }), "SHELL_INVALID_REQUEST")
      assert.strictEqual(yield* codeOf("echo a\0b"), "SHELL_INVALID_REQUEST")
      assert.strictEqual(yield* codeOf(`echo ${"x".repeat(200_000)}`), "SHELL_COMMAND_TOO_LONG")
      const missing = yield* Effect.flip(run("true")).pipe(Effect.provide(bash({ shell: "no-such-shell" })))
      assert.strictEqual(missing.code, "SHELL_NOT_FOUND")
    }).pipe(Effect.provide(bash()))
  )

  describe("environment", () => {
    it.live("is unattended, the request on top, facts last, secrets nowhere", () =>
      Effect.gen(function* () {
        const { stdout } = yield* run("env", {
          env: { PAGER: "less", DSH_SHELL: "0", MY_TOKEN: "given" },
          facts: { DSH_SESSION_ID: "s1" }
        })
        const env = new Map(stdout.text.split("\n").map((line) => line.split("=", 2) as [string, string]))
        assert.strictEqual(env.get("NO_COLOR"), "1")
        assert.strictEqual(env.get("TERM"), "dumb")
        assert.strictEqual(env.get("GIT_PAGER"), "cat")
        assert.strictEqual(env.get("PAGER"), "less")
        assert.strictEqual(env.get("MY_TOKEN"), "given")
        assert.strictEqual(env.get("DSH_SHELL"), "1")
        assert.strictEqual(env.get("DSH_SESSION_ID"), "s1")
        for (const gone of ["FORCE_COLOR", "DEEPSEEK_API_KEY", "DSH_HOME"]) assert.isFalse(env.has(gone), gone)
      }).pipe(
        Effect.provide(
          Layer.provide(
            bash(),
            Layer.succeed(AmbientEnv, {
              PATH: process.env["PATH"],
              FORCE_COLOR: "1",
              DEEPSEEK_API_KEY: "secret",
              DSH_HOME: "/x"
            })
          )
        )
      )
    )

    it.live("interactive programs fail with a message instead of waiting", () =>
      Effect.gen(function* () {
        const cwd = yield* tempDir
        const setUp = [
          `test -z "$(ls -A)" && git init -q .`,
          "git config user.email a@b.c",
          "git config user.name n",
          "for i in 1 2 3; do echo $i > f; git add f; git commit -qm $i; done",
          "echo 4 > f; git add f"
        ].join(" && ")
        assert.strictEqual((yield* run(setUp, { cwd })).exitCode, 0)

        const commit = yield* run("git commit", { cwd })
        assert.notStrictEqual(commit.exitCode, 0)
        assert.include(commit.stderr.text, "editor")
        const rebase = yield* run("git stash -q && git rebase -i HEAD~2", { cwd })
        assert.notStrictEqual(rebase.exitCode, 0)
        assert.include(rebase.stderr.text, "editor")
        const ask = yield* run("read -p password: answer </dev/tty")
        assert.include(ask.stderr.text, "/dev/tty")
        assert.strictEqual((yield* run("read answer || echo no input")).stdout.text, "no input\n")
      }).pipe(Effect.scoped, Effect.provide(bash()))
    )
  })

  describe("output", () => {
    it.live("keeps the beginning and the end, whole characters only, and names the file with all of it", () =>
      Effect.gen(function* () {
        const { stdout, stderr } = yield* run("for i in $(seq 500); do printf '€%d' $i; done; echo short >&2")
        const all = Array.from({ length: 500 }, (_, i) => `€${i + 1}`).join("")
        assert.deepInclude(stdout, { truncated: true, totalBytes: Buffer.byteLength(all) })
        const [, begin = "", left, end = ""] = /^(.*)\n\[… (\d+) bytes left out …\]\n(.*)$/.exec(stdout.text) ?? []
        assert.isTrue(all.startsWith(begin) && all.endsWith(end), stdout.text)
        assert.isAbove(Buffer.byteLength(begin), 240)
        assert.isAbove(Buffer.byteLength(end), 740)
        assert.strictEqual(Buffer.byteLength(begin) + Number(left) + Buffer.byteLength(end), Buffer.byteLength(all))
        assert.notInclude(stdout.text, "\uFFFD")
        assert.strictEqual(NodeFs.readFileSync(stdout.spillPath!, "utf8"), all)
        assert.deepStrictEqual(stderr, whole("short\n"))
      }).pipe(Effect.provide(bash({ maxOutputBytes: 1000 })))
    )

    it.live("of more than the file may hold only the beginning and the end are left", () =>
      Effect.gen(function* () {
        const { stdout } = yield* run("head -c 20000000 /dev/zero | tr '\\0' a")
        const text = `${"a".repeat(16_000)}\n[… 19936000 bytes left out …]\n${"a".repeat(48_000)}`
        assert.deepStrictEqual(stdout, { text, truncated: true, totalBytes: 20_000_000 })
      }).pipe(Effect.provide(bash({ maxSpillBytes: 1_000_000 })))
    )

    it.live("replaces binary output by a notice and broken characters by U+FFFD", () =>
      Effect.gen(function* () {
        const { stdout, stderr } = yield* run("head -c 100 /dev/zero; printf 'a\\x81\\xff \\xfe\\n' >&2")
        assert.deepStrictEqual(stdout, {
          text: "[binary output of 100 bytes, not shown]",
          truncated: false,
          totalBytes: 100
        })
        assert.strictEqual(stderr.text, "a\uFFFD\uFFFD \uFFFD\n")
      }).pipe(Effect.provide(bash()))
    )
  })

  describe("time", () => {
    /** Lets a command run until it has made the file `ready`, then lets its time run out. */
    const overtime = (command: string) =>
      Effect.gen(function* () {
        const cwd = yield* tempDir
        const fiber = yield* Effect.fork(run(command, { cwd, timeoutMs: 60_000 }))
        yield* TestServices.provideLive(eventually(() => NodeFs.existsSync(Path.join(cwd, "ready"))))
        yield* TestClock.adjust("60 seconds")
        return yield* Fiber.join(fiber)
      }).pipe(Effect.scoped, Effect.provide(bash({ graceMs: 200 })), Effect.provide(TestContext.TestContext))

    it.live("ends a command at its deadline and returns what there is", () =>
      Effect.gen(function* () {
        const plain = yield* overtime("echo before; touch ready; sleep 600")
        assert.deepInclude(plain, { timedOut: true, timeoutMs: 60_000, signal: "SIGTERM", exitCode: null })
        assert.strictEqual(plain.stdout.text, "before\n")
        const polite = yield* overtime(
          "trap 'echo bye; exit 0' TERM; echo hi; touch ready; while :; do sleep 0.05; done"
        )
        assert.deepInclude(polite, { timedOut: true, exitCode: 0, signal: null })
        assert.strictEqual(polite.stdout.text, "hi\nbye\n")
        const stubborn = yield* overtime("trap '' TERM; touch ready; while :; do sleep 0.05; done")
        assert.deepInclude(stubborn, { timedOut: true, signal: "SIGKILL" })
      })
    )

    it.live("does not wait for children in other sessions, at the deadline or after the end", () =>
      Effect.gen(function* () {
        const late = yield* overtime("setsid bash -c 'touch ready; exec sleep 600'; sleep 600")
        assert.isTrue(late.timedOut)
        const done = yield* run("(setsid sleep 5 &) ; echo done")
        assert.deepInclude(done, { exitCode: 0, pipeHeld: true, timedOut: false })
        assert.strictEqual(done.stdout.text, "done\n")
      }).pipe(Effect.provide(bash()))
    )

    it.live("a flood does not delay the deadline", () =>
      Effect.gen(function* () {
        const result = yield* overtime("head -c 1000000 /dev/zero | tr '\\0' y; touch ready; yes")
        assert.deepInclude(result, { timedOut: true, signal: "SIGTERM" })
        assert.strictEqual(result.stdout.text.replace(/\[.*\]/, "").length, 64_002)
      })
    )

    it.live("caps the deadline instead of refusing it", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* run("true", { timeoutMs: 1e9 })).timeoutMs, 600_000)
        assert.strictEqual((yield* run("true").pipe(Effect.provide(bash({ timeoutMs: 5000 })))).timeoutMs, 5000)
      }).pipe(Effect.provide(bash()))
    )

    it.live("interruption ends the command", () =>
      Effect.gen(function* () {
        const cwd = yield* tempDir
        const file = Path.join(cwd, "pid")
        const fiber = yield* Effect.fork(run(`echo $$ > ${file}.new; mv ${file}.new ${file}; sleep 600`))
        yield* eventually(() => NodeFs.existsSync(file))
        const pid = Number(NodeFs.readFileSync(file, "utf8"))
        yield* Fiber.interrupt(fiber)
        // Interruption is prompt; a command that takes longer to die does so in the background.
        yield* eventually(() => !exists(pid))
      }).pipe(Effect.scoped, Effect.provide(bash()))
    )
  })
})
