// Terminals of the local world, with real programs on them.
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { AmbientEnv } from "../src/AmbientEnv.ts"
import { Subprocess } from "../src/Subprocess.ts"
import type { PtyHandle, PtySpec } from "../src/Subprocess.ts"
import * as SubprocessLocal from "../src/SubprocessLocal.ts"
import * as ProcessTable from "../src/SubprocessLocal/ProcessTable.ts"
import { eventually, isRunning, tempDir } from "./support.ts"

const isLinux = process.platform === "linux"
const local = SubprocessLocal.layer({ graceMs: 300 })
const base = { cwd: "/", rows: 40, cols: 160, env: { TERM: "dumb", PS1: "$ " } }

const interactive = ["bash", "--noprofile", "--norc", "-i"]
const open = (argv: ReadonlyArray<string> = interactive, spec: Partial<PtySpec> = {}) =>
  Effect.flatMap(Subprocess, (subprocess) => subprocess.openPty({ ...base, argv, ...spec }))

/** What the terminal has shown so far. */
const watch = (pty: PtyHandle) =>
  Effect.gen(function* () {
    const decoder = new TextDecoder()
    const seen = { text: "" }
    const reading = Stream.runForEach(pty.output, (bytes) =>
      Effect.sync(() => void (seen.text += decoder.decode(bytes, { stream: true })))
    )
    const fiber = yield* Effect.forkScoped(reading)
    const shows = (text: string | RegExp) =>
      eventually(Effect.sync(() => (typeof text === "string" ? seen.text.includes(text) : text.test(seen.text))))
    return { seen, shows, all: Effect.map(Fiber.join(fiber), () => seen.text) }
  })

const type = (pty: PtyHandle, text: string) => pty.write(new TextEncoder().encode(text))

const session = (leader: number) =>
  (ProcessTable.snapshot() ?? []).filter((entry) => entry.session === leader && !entry.zombie)

describe("a terminal", () => {
  it.scopedLive("is one to the program on it, which ends with its status", () =>
    Effect.gen(function* () {
      const pty = yield* open(["bash", "-c", "[ -t 0 ] && [ -t 1 ] && stty size && echo $TERM && pwd; exit 3"])
      const { all } = yield* watch(pty)
      assert.strictEqual(yield* all, "40 160\r\ndumb\r\n/\r\n")
      assert.deepStrictEqual(yield* pty.exit, { exitCode: 3, signal: null })
      const killed = yield* open(["bash", "-c", "kill -SEGV $$"])
      assert.deepStrictEqual(yield* killed.exit, { exitCode: null, signal: "SIGSEGV" })
      assert.strictEqual((yield* Effect.flip(type(killed, "x"))).code, "SUBPROCESS_STDIN_CLOSED")
      assert.strictEqual((yield* Effect.flip(killed.signal("SIGINT"))).code, "SUBPROCESS_STDIN_CLOSED")
      assert.isUndefined(yield* killed.foreground)
    }).pipe(Effect.provide(local))
  )

  it.scopedLive("gives the end of what was written even when somebody reads late", () =>
    Effect.gen(function* () {
      const pty = yield* open(["bash", "-c", "seq 1 20000; echo end"])
      const { all } = yield* watch(pty)
      assert.match(yield* all, /^1\r\n2\r\n[^]*20000\r\nend\r\n$/)
    }).pipe(Effect.provide(local))
  )

  it.scopedLive("has job control, and signals go to who is in front", () =>
    Effect.gen(function* () {
      const pty = yield* open()
      const { shows } = yield* watch(pty)
      yield* shows("$ ")
      assert.strictEqual((yield* pty.foreground)?.group, pty.pid)
      yield* type(pty, `sh -c 'echo u""p; exec sleep 600'\n`)
      yield* shows("up")
      const { group } = (yield* pty.foreground)!
      assert.strictEqual(yield* pty.signal("SIGINT"), group)
      yield* eventually(Effect.map(pty.foreground, (front) => front?.group === pty.pid))
      assert.isFalse(isRunning(group))
    }).pipe(Effect.provide(local))
  )

  it.runIf(isLinux)("knows who waits for input, and whether that is the same wait", () =>
    Effect.gen(function* () {
      const pty = yield* open()
      const { shows } = yield* watch(pty)
      const waiting = Effect.map(pty.foreground, (front) => front?.waiting && front.waiting.id)
      const waits = eventually(Effect.map(waiting, (id) => typeof id === "string"))
      yield* shows("$ ")
      yield* waits
      assert.strictEqual(yield* waiting, yield* waiting)
      const readers = [
        "read x",
        "cat",
        "read x </dev/tty",
        `${process.execPath} -e 'process.stdin.resume()'`,
        `perl -e '$r=""; vec($r,0,1)=1; select($r,undef,undef,undef)'`
      ]
      for (const [n, reader] of readers.entries()) {
        const prompt = yield* waiting
        yield* type(pty, `echo; echo be''gin${n}; ${reader}\n`)
        yield* shows(`begin${n}`)
        yield* eventually(Effect.map(waiting, (id) => typeof id === "string" && id !== prompt))
        const wait = (yield* pty.foreground)?.waiting
        assert.strictEqual(wait && wait.only, !reader.startsWith(process.execPath), reader)
        yield* pty.signal("SIGINT")
        yield* eventually(Effect.map(pty.foreground, (front) => front?.group === pty.pid))
        yield* shows(new RegExp(`begin${n}[^]*\\$ $`))
        yield* waits
      }
      yield* type(pty, "sleep 600\n")
      yield* eventually(Effect.map(pty.foreground, (front) => front?.group !== pty.pid))
      yield* eventually(Effect.map(waiting, (id) => id === false))
    }).pipe(Effect.provide(local), Effect.scoped, Effect.runPromise)
  )

  it.scopedLive("does not stop this process when nobody reads what is typed", () =>
    Effect.gen(function* () {
      const pty = yield* open(["bash", "-c", "stty -echo; echo ready; exec sleep 600"])
      yield* (yield* watch(pty)).shows("ready")
      const typing = yield* Effect.fork(type(pty, `${"x".repeat(70)}\n`.repeat(2000)))
      yield* Effect.sleep("20 millis")
      assert.isNull(typing.unsafePoll())
      yield* Fiber.interrupt(typing)
    }).pipe(Effect.provide(local))
  )

  it.runIf(isLinux)("makes who writes wait, instead of keeping what nobody reads", () =>
    Effect.gen(function* () {
      const pty = yield* open(["yes"])
      const written = () => /wchar: (\d+)/.exec(readFileSync(`/proc/${pty.pid}/io`, "utf8"))?.[1]
      let looks = 0
      let last = written()
      yield* eventually(
        Effect.sync(() => {
          const now = written()
          looks = now === last && now !== "0" ? looks + 1 : 0
          last = now
          return looks === 20
        })
      )
      assert.isBelow(Number(last), 10_000_000)
      // And goes on when somebody reads.
      yield* watch(pty)
      yield* eventually(Effect.sync(() => Number(written()) > Number(last)))
    }).pipe(Effect.provide(local), Effect.scoped, Effect.runPromise)
  )

  it.scopedLive("is nobody else's: programs that are started later cannot reach it", () =>
    Effect.gen(function* () {
      const first = yield* open()
      const second = yield* open()
      yield* (yield* watch(first)).shows("$ ")
      const { shows } = yield* watch(second)
      yield* shows("$ ")
      const list = "ls -l /proc/self/fd 2>/dev/null || ls -l /dev/fd"
      assert.notInclude(execFileSync("sh", ["-c", list], { encoding: "utf8" }), "ptmx")
      yield* type(second, `(${list}) | grep -c pt''mx\n`)
      yield* shows(/\n0\r\n/)
    }).pipe(Effect.provide(local))
  )

  it.scopedLive("shows its programs no secrets", () =>
    Effect.gen(function* () {
      const pty = yield* open(["env"])
      const shown = yield* (yield* watch(pty)).all
      assert.include(shown, "PLAIN=1")
      assert.notMatch(shown, /DEEPSEEK|DSH_/)
    }).pipe(
      Effect.provide(
        Layer.provide(
          local,
          Layer.succeed(AmbientEnv, { PATH: process.env["PATH"], PLAIN: "1", DEEPSEEK_API_KEY: "s", DSH_HOME: "/x" })
        )
      )
    )
  )

  it.live("names what is wrong when there can be none", () =>
    Effect.gen(function* () {
      const codeOf = (argv: ReadonlyArray<string>, spec?: Partial<PtySpec>) =>
        Effect.map(Effect.flip(Effect.scoped(open(argv, spec))), ({ code }) => code)
      assert.strictEqual(yield* codeOf([]), "SUBPROCESS_INVALID_SPEC")
      assert.strictEqual(yield* codeOf(["true"], { rows: 0 }), "SUBPROCESS_INVALID_SPEC")
      assert.strictEqual(yield* codeOf(["no-such-program-here"]), "SUBPROCESS_NOT_FOUND")
      assert.strictEqual(yield* codeOf(["true"], { cwd: "/no/such/folder" }), "SUBPROCESS_CWD_NOT_FOUND")
      assert.strictEqual(yield* codeOf(["true"], { cwd: "/etc/passwd" }), "SUBPROCESS_CWD_NOT_FOUND")
    }).pipe(Effect.provide(local))
  )
})

describe("the end of a terminal", () => {
  const mark = `620${process.pid}`
  const isAsleep = () => execFileSync("ps", ["-A", "-o", "args="], { encoding: "utf8" }).includes(`\nsleep ${mark}`)
  const scripts = {
    "an idle shell": "",
    "commands in front and behind": "sleep 600 & (sleep 600; true) & sleep 600\n",
    "a stopped one": "set -m; sleep 600 & kill -STOP $!; sleep 600\n",
    "one that ignores signals": `bash -c "trap '' TERM HUP INT; while :; do sleep 600; done"\n`,
    "one in a session of its own": `bash -c 'setsid sleep ${mark} & wait'\n`
  }
  for (const [what, script] of Object.entries(scripts)) {
    it.live(`leaves nothing behind: ${what}`, () =>
      Effect.gen(function* () {
        const { family, pid } = yield* Effect.gen(function* () {
          const pty = yield* open()
          yield* (yield* watch(pty)).shows("$ ")
          yield* type(pty, script)
          if (script !== "") yield* eventually(Effect.map(pty.foreground, (front) => front?.group !== pty.pid))
          if (script.includes(mark)) yield* eventually(Effect.sync(isAsleep))
          const table = ProcessTable.snapshot() ?? []
          const family = ProcessTable.descendants(table, pty.pid)
          yield* pty.terminate
          assert.deepStrictEqual(session(pty.pid), [])
          return { family, pid: pty.pid }
        }).pipe(Effect.scoped)
        assert.isFalse(isRunning(pid))
        assert.isFalse(isAsleep())
        for (const entry of family) assert.isFalse(ProcessTable.isRunning(entry), `${entry.pid} is left`)
      }).pipe(Effect.provide(local))
    )
  }

  it.live("takes what the shell left running when it exited", () =>
    Effect.gen(function* () {
      const pid = yield* Effect.gen(function* () {
        const pty = yield* open()
        yield* (yield* watch(pty)).shows("$ ")
        yield* type(pty, "(trap '' HUP; exec sleep 600) & (trap '' HUP; exec sleep 600) & exit 4\n")
        assert.strictEqual((yield* pty.exit).exitCode, 4)
        if (isLinux) assert.isNotEmpty(session(pty.pid))
        return pty.pid
      }).pipe(Effect.scoped)
      yield* eventually(Effect.sync(() => session(pid).length === 0))
    }).pipe(Effect.provide(local))
  )

  it.live("comes with the end of the service, even for those whose Scope is open", () =>
    Effect.gen(function* () {
      const tmp = yield* tempDir
      const pid = yield* Effect.provide(
        Effect.map(open(interactive, { cwd: tmp }), (pty) => pty.pid),
        local
      )
      yield* eventually(Effect.sync(() => !isRunning(pid)))
    }).pipe(Effect.scoped)
  )
})
