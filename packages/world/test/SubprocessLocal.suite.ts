/**
 * What `SubprocessLocal` promises, to be checked wherever it may run: the rules of `Subprocess`, and what is its own.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as TestContext from "effect/TestContext"
import * as NodeFs from "node:fs"
import * as Path from "node:path"
import { AmbientEnv } from "../src/AmbientEnv.ts"
import * as FsLocal from "../src/FsLocal.ts"
import { Subprocess } from "../src/Subprocess.ts"
import type { Collect, ProcessHandle, SpawnSpec } from "../src/Subprocess.ts"
import * as SubprocessContract from "../src/SubprocessContract.ts"
import * as SubprocessLocal from "../src/SubprocessLocal.ts"
import { isRunning, tempDir } from "./support.ts"

const collect: Collect = { maxBytes: 64_000 }

const bash = (script: string, spec: Partial<SpawnSpec> = {}) =>
  Effect.flatMap(Subprocess, (subprocess) =>
    subprocess.spawn({
      argv: ["bash", "-c", script],
      cwd: "/",
      stdin: "ignore",
      stdout: collect,
      stderr: collect,
      ...spec
    })
  )

const textOf = (output: ProcessHandle["collected"]["stdout"]) =>
  Effect.map(output.readFrom(0), (read) => Buffer.from(read.bytes).toString())

/** Ignores SIGTERM. */
const stubborn = Effect.tap(
  bash("trap '' TERM; echo ready; while :; do sleep 0.05; done", { stdout: "stream" }),
  ({ stdout }) => Stream.runHead(stdout)
)

const local = SubprocessLocal.layer({ graceMs: 200 })

const world = Effect.map(tempDir, (cwd): SubprocessContract.World => {
  const open: SubprocessContract.World["open"] = (inherited) => {
    const service = SubprocessLocal.make({ graceMs: 200 })
    return inherited === undefined
      ? service
      : Effect.provideService(service, AmbientEnv, { PATH: process.env["PATH"], ...inherited })
  }
  return { open, fs: FsLocal.make(), cwd }
})

export const suite = (where: string): void => {
  describe(`SubprocessLocal ${where}`, () => {
    for (const { name, run } of SubprocessContract.cases) {
      it.scopedLive(name, () => Effect.flatMap(world, run))
    }

    it.live("a program leads its own session, and ends by the signal that it is told", () =>
      Effect.gen(function* () {
        const leader = yield* bash("ps -o pid=,pgid=,sid= -p $$")
        yield* leader.exit
        const ids = yield* textOf(leader.collected.stdout)
        assert.deepStrictEqual(ids.trim().split(/\s+/), Array(3).fill(String(leader.pid)))
        assert.strictEqual((yield* (yield* bash("kill -SEGV $$")).exit).signal, "SIGSEGV")

        const resisting = yield* stubborn
        yield* resisting.terminate
        assert.deepInclude(yield* resisting.exit, { exitCode: null, signal: "SIGKILL" })
        const polite = yield* bash("trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done", { stdout: "stream" })
        yield* Stream.runHead(polite.stdout)
        yield* polite.terminate
        assert.deepInclude(yield* polite.exit, { exitCode: 5, signal: null })
      }).pipe(Effect.scoped, Effect.provide(local))
    )

    it.live("files of output are in a folder of their own, which goes with the service", () =>
      Effect.gen(function* () {
        const dir = yield* tempDir
        const places = yield* Effect.gen(function* () {
          const handles = yield* Effect.forEach([90_000, 300_000], (size) =>
            bash(`head -c ${size} /dev/zero`, { stdout: { maxBytes: 1000, spill: { maxBytes: 100_000 } } })
          )
          yield* Effect.forEach(handles, ({ exit }) => exit)
          const [kept] = yield* Effect.forEach(handles, ({ collected }) => collected.stdout.readFrom(0))
          const folder = Path.dirname(kept!.spillPath!)
          assert.strictEqual(NodeFs.statSync(folder).mode & 0o777, 0o700)
          // What outgrew its limit is not even there.
          const files = NodeFs.readdirSync(folder).filter((name) => name.endsWith(".log"))
          assert.deepStrictEqual(files, [Path.basename(kept!.spillPath!)])
          return NodeFs.readdirSync(dir).map((name) => Path.join(dir, name))
        }).pipe(Effect.scoped, Effect.provide(SubprocessLocal.layer({ spillParent: dir })))
        assert.lengthOf(places, 1)
        assert.deepStrictEqual(NodeFs.readdirSync(dir), [])
      }).pipe(Effect.scoped)
    )

    it.live("leaves nothing behind when this process exits in a hurry", () =>
      Effect.gen(function* () {
        const before = process.listeners("exit")
        yield* Effect.gen(function* () {
          const handle = yield* stubborn
          const added = process.listeners("exit").filter((listener) => !before.includes(listener))
          for (const listener of added) listener(0)
          assert.strictEqual((yield* handle.exit).signal, "SIGKILL")
          assert.isFalse(isRunning(handle.pid))
        }).pipe(Effect.scoped, Effect.provide(local))
        assert.deepStrictEqual(process.listeners("exit"), before)
      })
    )

    it.live("works in real time under a test clock", () =>
      Effect.gen(function* () {
        const handle = yield* stubborn
        yield* handle.terminate
        assert.strictEqual((yield* handle.exit).signal, "SIGKILL")
      }).pipe(Effect.scoped, Effect.provide(local), Effect.provide(TestContext.TestContext))
    )
  })
}
