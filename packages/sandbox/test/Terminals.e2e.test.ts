// A confined terminal, under the real bubblewrap: it is a terminal inside, and nothing of it gets or stays outside.
import { Subprocess } from "@dsh/world/Subprocess"
import type { PtyHandle } from "@dsh/world/Subprocess"
import { CurrentConfinement } from "@dsh/world/Confinement"
import type { Confinement } from "@dsh/world/Confinement"
import { assert, describe, it } from "@effect/vitest"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import { Effect, Layer, Schedule, Stream } from "effect"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"
import { spawn, spawnSync } from "node:child_process"
import * as FsLocal from "@dsh/world/FsLocal"
import * as SandboxBwrap from "../src/SandboxBwrap.ts"
import * as SubprocessConfined from "../src/SubprocessConfined.ts"
import { canConfine, confined, world } from "./support.ts"

const shell = ["bash", "--noprofile", "--norc", "-i"]

const open = (confinement: Confinement, argv: ReadonlyArray<string> = shell) =>
  Effect.flatMap(Subprocess, (subprocess) =>
    subprocess.openPty({
      argv,
      cwd: confinement.workspace,
      env: { TERM: "dumb", PS1: "$ " },
      rows: 40,
      cols: 160
    })
  ).pipe(Effect.provideService(CurrentConfinement, confinement))

const type = (pty: PtyHandle, text: string) => pty.write(new TextEncoder().encode(text))

const watch = (pty: PtyHandle) =>
  Effect.gen(function* () {
    const seen = { text: "" }
    const reading = Stream.runForEach(pty.output, (bytes) =>
      Effect.sync(() => void (seen.text += new TextDecoder().decode(bytes)))
    )
    yield* Effect.forkScoped(reading)
    return (text: string | RegExp) => eventually(() => seen.text.search(text) >= 0)
  })

const eventually = (done: () => boolean) =>
  Effect.repeat(Effect.sync(done), { until: (held) => held, schedule: Schedule.spaced("10 millis") })

/** The command lines with that in it. */
const linesOf = (mark: string): ReadonlyArray<string> =>
  spawnSync("ps", ["-A", "-ww", "-o", "args="], { encoding: "utf8" })
    .stdout.split("\n")
    .filter((line) => line.includes(mark))

/** Whether that runs, and not only who will run it. */
const isRunning = (mark: string) => linesOf(mark).some((line) => !line.includes("bwrap"))

describe.skipIf(!canConfine)(
  `a confined terminal, under bubblewrap${canConfine ? "" : ": skipped, bubblewrap is not there"}`,
  () => {
    it.scopedLive("changes the workspace and nothing else, and sees no secrets", () =>
      Effect.gen(function* () {
        const { confinement, home, outside, workspace } = yield* world({}, "beside")
        const pty = yield* open(confinement)
        const shows = yield* watch(pty)
        yield* type(pty, `echo x > ${outside}/new.txt; echo y > made.txt; cat ${home}/.credentials.yaml; echo d''one\n`)
        yield* shows(/Read-only file system/)
        yield* shows(/\ndone/)
        assert.isFalse(existsSync(join(outside, "new.txt")))
        assert.strictEqual(readFileSync(join(workspace, "made.txt"), "utf8"), "y\n")
        yield* type(pty, `cat ${home}/.credentials.yaml | grep -c sk-secret\n`)
        yield* shows(/\n0\r/)
      }).pipe(Effect.provide(confined))
    )

    it.scopedLive("has job control, and signals reach who is in front", () =>
      Effect.gen(function* () {
        const { confinement } = yield* world()
        const pty = yield* open(confinement)
        const shows = yield* watch(pty)
        yield* shows(/\$ $/)
        const shellGroup = (yield* pty.foreground)?.group
        yield* type(pty, `sh -c 'echo u""p; exec sleep 600'\n`)
        yield* shows("up")
        const front = yield* pty.foreground
        assert.notStrictEqual(front?.group, shellGroup)
        yield* pty.signal("SIGINT")
        yield* type(pty, "echo status=$?\n")
        yield* shows("status=130")
        yield* type(pty, "read answer\n")
        const waiting = Effect.map(pty.foreground, (front) => front?.waiting)
        yield* Effect.repeat(waiting, { until: (wait) => typeof wait === "object" && wait.only })
      }).pipe(Effect.provide(confined))
    )

    for (const [what, command] of [
      ["in front", (mark: string) => `sleep ${mark}`],
      ["behind", (mark: string) => `sleep ${mark} & echo go''ing`],
      ["in a session of its own", (mark: string) => `setsid sleep ${mark}`],
      ["a daemon", (mark: string) => `(setsid bash -c "trap '' HUP TERM; sleep ${mark}; true" & ) ; echo go''ing`]
    ] as const) {
      it.live(`leaves nothing behind: ${what}`, () =>
        Effect.gen(function* () {
          const mark = `600${process.pid}`
          yield* Effect.gen(function* () {
            const { confinement } = yield* world()
            const pty = yield* open(confinement)
            yield* (yield* watch(pty))(/\$ $/)
            yield* type(pty, `${command(mark)}\n`)
            yield* eventually(() => isRunning(`sleep ${mark}`))
          }).pipe(Effect.scoped)
          yield* eventually(() => linesOf(mark).length === 0)
        }).pipe(Effect.provide(confined))
      )
    }
  }
)

describe.skipIf(!canConfine)("a harness with a confined terminal", () => {
  // From here the program finds what is no part of a bundle.
  const folder = mkdtempSync(fileURLToPath(new URL("../../world/node_modules/.dsh-confined-", import.meta.url)))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.scopedLive("leaves nothing behind when it is killed", () =>
    Effect.gen(function* () {
      const input = fileURLToPath(new URL("programs/ConfinedTerminal.ts", import.meta.url))
      const program = yield* Effect.promise(async () => {
        const { bundle } = await import("../../../scripts/bundle.mjs")
        return bundle({ input, out: join(folder, "program") })
      })
      const { workspace } = yield* world()
      const mark = `630${process.pid}`
      const script = `trap '' HUP TERM; (setsid bash -c "sleep ${mark}; true" &); sleep ${mark}; sleep 1`
      const harness = spawn(process.execPath, [program, script, workspace], { stdio: "ignore" })
      yield* Effect.addFinalizer(() => Effect.sync(() => harness.kill("SIGKILL")))
      yield* eventually(() => isRunning(`sleep ${mark}`))
      harness.kill("SIGKILL")
      yield* eventually(() => linesOf(mark).length === 0)
    })
  )
})

describe("a terminal where nothing can confine", () => {
  const nowhere = Layer.effect(Subprocess, SubprocessConfined.make(Effect.die("not asked"))).pipe(
    Layer.provide(SandboxBwrap.layer({ runner: "no-such-bwrap" })),
    Layer.provide([SubprocessLocal.layer(), FsLocal.layer])
  )
  it.scopedLive("is not opened", () =>
    Effect.gen(function* () {
      const { confinement } = yield* world()
      const { code, message } = yield* Effect.flip(open(confinement))
      assert.strictEqual(code, "SANDBOX_UNAVAILABLE")
      assert.include(message, "bubblewrap")
    }).pipe(Effect.provide(nowhere))
  )
})
