/**
 * What `SubprocessLocal` promises, to be checked wherever it may run.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestContext from "effect/TestContext"
import * as NodeFs from "node:fs"
import * as Path from "node:path"
import { AmbientEnv } from "../src/AmbientEnv.ts"
import { Subprocess } from "../src/Subprocess.ts"
import type { Collect, ProcessHandle, SpawnSpec } from "../src/Subprocess.ts"
import * as SubprocessLocal from "../src/SubprocessLocal.ts"
import { eventually, isRunning, tempDir } from "./support.ts"

const collect: Collect = { maxBytes: 64_000 }
const base = { cwd: "/", stdin: "ignore", stdout: collect, stderr: collect } as const

const bash = (script: string, spec: Partial<SpawnSpec> = {}) =>
  Effect.flatMap(Subprocess, (subprocess) => subprocess.spawn({ ...base, argv: ["bash", "-c", script], ...spec }))

const textOf = (output: ProcessHandle["collected"]["stdout"]) =>
  Effect.map(output.readFrom(0), (read) => Buffer.from(read.bytes).toString())

const outcome = (handle: ProcessHandle) =>
  Effect.gen(function* () {
    const exit = yield* handle.exit
    const stdout = yield* textOf(handle.collected.stdout)
    const stderr = yield* textOf(handle.collected.stderr)
    return { ...exit, stdout, stderr }
  })

const run = (script: string, spec?: Partial<SpawnSpec>) => Effect.scoped(Effect.flatMap(bash(script, spec), outcome))

const local = SubprocessLocal.layer({ graceMs: 200 })
const withEnv = (env: Record<string, string>) =>
  Layer.provide(local, Layer.succeed(AmbientEnv, { PATH: process.env["PATH"], ...env }))

export const suite = (where: string): void => {
  describe(`SubprocessLocal ${where}`, () => {
    it.live("reports output and exit status, and leaves quoting alone", () =>
      Effect.gen(function* () {
        const result = yield* run('printf "%s|" "$@"; echo oops >&2; exit 3', {
          argv: ["bash", "-c", 'printf "%s|" "$@"; echo oops >&2; exit 3', "_", "a b", "$HOME", "*"]
        })
        assert.deepStrictEqual(result, {
          exitCode: 3,
          signal: null,
          pipeHeld: false,
          stdout: "a b|$HOME|*|",
          stderr: "oops\n"
        })
        assert.strictEqual((yield* run("kill -SEGV $$")).signal, "SIGSEGV")
      }).pipe(Effect.provide(local))
    )

    it.live("gives stdin data, or an end of file at once", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* run("cat", { stdin: { data: "héllo" } })).stdout, "héllo")
        assert.strictEqual((yield* run("cat; echo end")).stdout, "end\n")
        // The child ends without reading a byte: no error, no hang.
        assert.strictEqual((yield* run("exit 0", { stdin: { data: Buffer.alloc(1_000_000) } })).exitCode, 0)
      }).pipe(Effect.provide(local))
    )

    it.live("has no controlling terminal and leads its own session", () =>
      Effect.gen(function* () {
        const result = yield* run('cat </dev/tty || echo "no tty"; ps -o pid=,pgid=,sid= -p $$')
        assert.include(result.stderr, "/dev/tty")
        const [message, ids] = result.stdout.trim().split("\n")
        assert.strictEqual(message, "no tty")
        assert.strictEqual(new Set(ids!.trim().split(/\s+/)).size, 1)
      }).pipe(Effect.provide(local))
    )

    it.live("scrubs secrets from the inherited environment only", () =>
      Effect.gen(function* () {
        const result = yield* run("env", { env: { GIVEN_TOKEN: "explicit", HOME: undefined } })
        assert.include(result.stdout, "PLAIN=1")
        assert.include(result.stdout, "GIVEN_TOKEN=explicit")
        assert.notMatch(result.stdout, /DEEPSEEK|GH_PAT|DSH_|HOME=/)
      }).pipe(
        Effect.provide(withEnv({ PLAIN: "1", DEEPSEEK_API_KEY: "s", GH_PAT: "s", DSH_HOME: "/x", HOME: "/root" }))
      )
    )

    it.live("names what is wrong when nothing can be started", () =>
      Effect.gen(function* () {
        const codeOf = (spec: Partial<SpawnSpec>) =>
          Effect.scoped(bash("true", spec)).pipe(
            Effect.flip,
            Effect.map((error) => error.code)
          )
        assert.strictEqual(yield* codeOf({ argv: [] }), "SUBPROCESS_INVALID_SPEC")
        assert.strictEqual(yield* codeOf({ argv: ["echo", "a\0b"] }), "SUBPROCESS_INVALID_SPEC")
        assert.strictEqual(yield* codeOf({ stdout: { maxBytes: 0 } }), "SUBPROCESS_INVALID_SPEC")
        assert.strictEqual(yield* codeOf({ graceMs: 0 }), "SUBPROCESS_INVALID_SPEC")
        assert.strictEqual(yield* codeOf({ argv: ["no-such-program-here"] }), "SUBPROCESS_NOT_FOUND")
        assert.strictEqual(yield* codeOf({ cwd: "/no/such/folder" }), "SUBPROCESS_CWD_NOT_FOUND")
        assert.strictEqual(yield* codeOf({ cwd: "/etc/passwd" }), "SUBPROCESS_CWD_NOT_FOUND")
        assert.strictEqual(yield* codeOf({ argv: ["/etc/passwd"] }), "SUBPROCESS_PERMISSION_DENIED")
        assert.strictEqual(yield* codeOf({ argv: ["echo", "x".repeat(200_000)] }), "SUBPROCESS_TOO_LONG")
      }).pipe(Effect.provide(local))
    )

    it.live("resolves programs by absolute path or through PATH, never relative", () =>
      Effect.gen(function* () {
        const subprocess = yield* Subprocess
        const dir = yield* tempDir
        const tool = Path.join(dir, "mytool")
        NodeFs.writeFileSync(tool, "#!/bin/sh\n", { mode: 0o755 })
        NodeFs.writeFileSync(Path.join(dir, "plain"), "", { mode: 0o644 })
        assert.strictEqual(yield* subprocess.resolveExecutable("mytool", { env: { PATH: `/nowhere:${dir}` } }), tool)
        assert.strictEqual(yield* subprocess.resolveExecutable(tool), tool)
        const missing = yield* Effect.flip(subprocess.resolveExecutable("plain", { env: { PATH: dir } }))
        assert.strictEqual(missing.code, "SUBPROCESS_NOT_FOUND")
        const relative = yield* Effect.flip(subprocess.resolveExecutable("./mytool"))
        assert.strictEqual(relative.code, "SUBPROCESS_INVALID_SPEC")
      }).pipe(Effect.scoped, Effect.provide(local))
    )

    describe("output", () => {
      it.live("keeps the tail in memory and the whole in a private file", () =>
        Effect.gen(function* () {
          const handle = yield* bash("seq 1 20000; echo end >&2", {
            stdout: { maxBytes: 1000, spill: { maxBytes: 1_000_000 } }
          })
          yield* handle.exit
          const all = Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join("")
          const read = yield* handle.collected.stdout.readFrom(0)
          assert.strictEqual(Buffer.from(read.bytes).toString(), all.slice(-1000))
          assert.deepInclude(read, { offset: all.length - 1000, nextOffset: all.length, lossy: true })
          assert.strictEqual(NodeFs.readFileSync(read.spillPath!, "utf8"), all)
          assert.strictEqual(NodeFs.statSync(read.spillPath!).mode & 0o777, 0o600)
          assert.strictEqual(NodeFs.statSync(Path.dirname(read.spillPath!)).mode & 0o777, 0o700)

          const later = yield* handle.collected.stdout.readFrom(all.length - 6)
          assert.deepInclude(later, { offset: all.length - 6, lossy: false })
          assert.isUndefined((yield* handle.collected.stderr.readFrom(0)).spillPath)
        }).pipe(Effect.scoped, Effect.provide(local))
      )

      it.live("drops the file once the stream outgrows its cap", () =>
        Effect.gen(function* () {
          const dir = yield* tempDir
          yield* Effect.gen(function* () {
            const handle = yield* bash("head -c 300000 /dev/zero", {
              stdout: { maxBytes: 1000, spill: { maxBytes: 100_000 } }
            })
            yield* handle.exit
            const read = yield* handle.collected.stdout.readFrom(0)
            assert.deepInclude(read, { nextOffset: 300_000, lossy: true })
            assert.isUndefined(read.spillPath)
            const left = NodeFs.readdirSync(Path.join(dir, NodeFs.readdirSync(dir)[0]!))
            assert.deepStrictEqual(
              left.filter((name) => name.endsWith(".log")),
              []
            )
          }).pipe(Effect.scoped, Effect.provide(SubprocessLocal.layer({ spillParent: dir })))
          assert.deepStrictEqual(NodeFs.readdirSync(dir), [])
        }).pipe(Effect.scoped)
      )

      it.live("an endless flood starves nobody and fills nothing", () =>
        Effect.gen(function* () {
          const handle = yield* bash("yes", { stdout: { maxBytes: 10_000, spill: { maxBytes: 1_000_000 } } })
          yield* eventually(Effect.map(handle.collected.stdout.readFrom(0), (read) => read.nextOffset > 1_000_000))
          yield* handle.terminate
          assert.strictEqual((yield* handle.exit).signal, "SIGTERM")
          const read = yield* handle.collected.stdout.readFrom(0)
          assert.strictEqual(read.bytes.length, 10_000)
          assert.isAbove(read.nextOffset, 1_000_000)
          assert.isUndefined(read.spillPath)
        }).pipe(Effect.scoped, Effect.provide(local))
      )

      it.live("streams raw bytes at the reader's pace and takes input meanwhile", () =>
        Effect.gen(function* () {
          const echo = yield* bash("cat", { stdin: "pipe", stdout: "stream" })
          yield* echo.stdin.write(Buffer.from("one "))
          yield* echo.stdin.write(Buffer.from("two"))
          yield* echo.stdin.end
          const chunks = yield* Stream.runCollect(echo.stdout)
          assert.strictEqual(Buffer.concat([...chunks]).toString(), "one two")
          assert.strictEqual((yield* echo.exit).exitCode, 0)
          assert.strictEqual((yield* Effect.flip(echo.stdin.write(Buffer.from("x")))).code, "SUBPROCESS_STDIN_CLOSED")

          const flood = yield* bash("yes", { stdout: "stream" })
          const head = yield* Stream.runFold(Stream.take(flood.stdout, 3), 0, (size, bytes) => size + bytes.length)
          assert.isAbove(head, 0)
          const unused = yield* bash("true")
          assert.strictEqual((yield* Effect.flip(unused.stdin.write(Buffer.from("x")))).code, "SUBPROCESS_STDIN_CLOSED")
        }).pipe(Effect.scoped, Effect.provide(local))
      )
    })

    describe("ending", () => {
      const strays = [
        "sleep 60 & echo fg",
        "sleep 60 </dev/null >/dev/null & echo fg",
        "(while :; do echo x; sleep 0.05; done) & echo fg",
        "setsid sleep 5 & echo fg"
      ]
      for (const script of strays) {
        it.live(`does not wait for who holds the pipe: ${script}`, () =>
          Effect.gen(function* () {
            const result = yield* run(script)
            assert.deepInclude(result, { exitCode: 0, pipeHeld: true })
            assert.include(result.stdout, "fg\n")
          }).pipe(Effect.provide(local))
        )
      }

      it.live("ends background children together with the Scope", () =>
        Effect.gen(function* () {
          const { stdout } = yield* run("sleep 60 >/dev/null 2>&1 & echo $!")
          yield* eventually(Effect.sync(() => !isRunning(Number(stdout))))
        }).pipe(Effect.provide(local))
      )

      it.live("kills what ignores SIGTERM, and only then", () =>
        Effect.gen(function* () {
          const stubborn = yield* bash("trap '' TERM; echo ready; while :; do sleep 0.05; done", { stdout: "stream" })
          yield* Stream.runHead(stubborn.stdout)
          yield* stubborn.terminate
          assert.strictEqual((yield* stubborn.exit).signal, "SIGKILL")

          const polite = yield* bash("trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done", {
            stdout: "stream"
          })
          yield* Stream.runHead(polite.stdout)
          yield* polite.terminate
          assert.strictEqual((yield* polite.exit).exitCode, 5)
        }).pipe(Effect.scoped, Effect.provide(local))
      )

      it.live("reaches a child that moved to a session of its own", () =>
        Effect.gen(function* () {
          const handle = yield* bash("setsid bash -c 'echo $$; exec sleep 60' | cat; sleep 60", { stdout: "stream" })
          const chunk = yield* Effect.flatten(Stream.runHead(handle.stdout))
          const stray = Number(Buffer.from(chunk).toString())
          assert.isTrue(isRunning(stray))
          yield* handle.terminate
          yield* eventually(Effect.sync(() => !isRunning(stray)))
        }).pipe(Effect.scoped, Effect.provide(local))
      )

      it.live("its owner does not wait for the grace period, the service does the rest", () =>
        Effect.gen(function* () {
          const pid = yield* Effect.gen(function* () {
            const pid = yield* Effect.gen(function* () {
              const handle = yield* bash("trap '' TERM; echo ready; while :; do sleep 0.05; done", { stdout: "stream" })
              yield* Stream.runHead(handle.stdout)
              return handle.pid
            }).pipe(Effect.scoped)
            assert.isTrue(isRunning(pid))
            return pid
          }).pipe(Effect.provide(SubprocessLocal.layer({ graceMs: 600_000 })))
          assert.isFalse(isRunning(pid))
        })
      )

      it.live("closing the service kills everything at once and waits, and refuses new processes", () =>
        Effect.gen(function* () {
          const scope = yield* Scope.make()
          const subprocess = yield* Scope.extend(SubprocessLocal.make({ graceMs: 600_000 }), scope)
          const spawn = subprocess.spawn({
            ...base,
            argv: ["bash", "-c", "trap '' TERM; echo ready; sleep 600 & wait; sleep 600"],
            stdout: "stream"
          })
          const handle = yield* spawn
          yield* Stream.runHead(handle.stdout)
          const exit = yield* Effect.fork(handle.exit)
          yield* Scope.close(scope, Exit.void)
          assert.isFalse(isRunning(handle.pid))
          assert.strictEqual((yield* Fiber.join(exit)).signal, "SIGKILL")
          assert.strictEqual((yield* Effect.flip(spawn)).code, "SUBPROCESS_CLOSED")
        }).pipe(Effect.scoped)
      )

      it.live("leaves nothing behind when this process exits in a hurry", () =>
        Effect.gen(function* () {
          const before = process.listeners("exit")
          yield* Effect.gen(function* () {
            const handle = yield* bash("trap '' TERM; echo ready; while :; do sleep 0.05; done", { stdout: "stream" })
            yield* Stream.runHead(handle.stdout)
            const added = process.listeners("exit").filter((listener) => !before.includes(listener))
            for (const listener of added) listener(0)
            assert.strictEqual((yield* handle.exit).signal, "SIGKILL")
          }).pipe(Effect.scoped, Effect.provide(local))
          assert.deepStrictEqual(process.listeners("exit"), before)
        })
      )

      it.live("works in real time under a test clock", () =>
        Effect.gen(function* () {
          const handle = yield* bash("trap '' TERM; echo ready; while :; do sleep 0.05; done", { stdout: "stream" })
          yield* Stream.runHead(handle.stdout)
          yield* handle.terminate
          assert.strictEqual((yield* handle.exit).signal, "SIGKILL")
        }).pipe(Effect.scoped, Effect.provide(local), Effect.provide(TestContext.TestContext))
      )
    })
  })
}
