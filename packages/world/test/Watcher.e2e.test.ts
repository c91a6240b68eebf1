// What is left of a harness that was killed: nothing. Every process of the commands holds a named pipe, whose end says that all are gone.
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { execFileSync, spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { closeSync, constants, createReadStream, mkdtempSync, openSync, rmSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll } from "vitest"
import * as ProcessTable from "../src/SubprocessLocal/ProcessTable.ts"
import { isRunning, signalled, tempDir, watcherOf, watchers, withoutWatcher } from "./support.ts"

// Not in the temporary folder: from here programs find what is no part of a bundle.
const folder = mkdtempSync(fileURLToPath(new URL("../node_modules/.dsh-watcher-", import.meta.url)))
let harness: string
let idle: string
let killedWhileStarting: string

beforeAll(async () => {
  const { bundle } = await import("../../../scripts/bundle.mjs")
  const program = (name: string) =>
    bundle({ input: fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url)), out: join(folder, name) })
  harness = await program("Harness")
  idle = await program("Idle")
  killedWhileStarting = await program("KilledWhileStarting")
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const isLinux = process.platform === "linux"
/** Says that it is there, and holds the pipe as long as it lives. */
const here = 'echo "$$ $INSIDE_DSH" >&9'

/** Commands as they come, and how many processes of each say that they are there. */
const everywhere = {
  "a plain one": `${here}; exec sleep 600`,
  "with grandchildren": `sleep 600 & (sleep 600; true) & ${here}; wait`,
  "that ignores signals": `trap '' TERM HUP INT; ${here}; while :; do sleep 600; done`,
  "without its environment": `${here}; exec env -i sleep 600`,
  "whose shell has ended": `${here}; env -i sleep 600 &`,
  "in a session of its own, with a parent": `env -i perl -e 'use POSIX; setsid(); exec "sleep", "600"' & ${here}; wait`
}
/** Nothing but their environment says whose they are. */
const onlyLinux = {
  "in a session of its own": `setsid bash -c '${here}; exec sleep 600' &`,
  "a daemon": `( ( setsid bash -c '${here}; cd /; exec sleep 600' </dev/null >/dev/null 2>&1 & ) & )`
}
const kinds: Readonly<Record<string, string>> = isLinux ? { ...everywhere, ...onlyLinux } : everywhere

interface Said {
  readonly pid: number
  readonly mark: string
}

interface Run {
  readonly child: ChildProcess
  /** Starts it and waits until it says that it is there. */
  readonly start: (script: string) => Effect.Effect<Said>
  /** The next that says so, whoever started it. */
  readonly next: Effect.Effect<Said>
  /** Succeeds when no command has a process any more. */
  readonly allGone: Effect.Effect<void>
  /** Succeeds when the harness has ended and whoever reads what it prints knows. */
  readonly closed: Effect.Effect<number | string | null>
}

const holding = (script: string) => `exec 9>"$HELD"; ${script}`

const runWith = Effect.fnUntraced(function* (env: Record<string, string>): Effect.fn.Return<Run, never, Scope.Scope> {
  const pipe = join(yield* tempDir, "held")
  execFileSync("mkfifo", [pipe])
  const held = createReadStream(pipe)
  const gone = new Promise<void>((resolve) => held.once("end", resolve))
  const lines = createInterface({ input: held })[Symbol.asyncIterator]()
  const pids = new Set<number>()

  const child = spawn(process.execPath, [harness], {
    env: { ...process.env, ...env, HELD: pipe },
    stdio: ["pipe", "pipe", "inherit", "pipe"]
  })
  const closed = new Promise<number | string | null>((resolve) =>
    child.once("close", (code, signal) => resolve(signal ?? code))
  )
  for (const output of [child.stdout, child.stdio[3]]) if (output instanceof Readable) output.resume()
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      child.kill("SIGKILL")
      for (const pid of pids) signalled(-pid, "SIGKILL")
      // For a reader that is still waiting for somebody to open the other end.
      closeSync(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK))
    })
  )
  const next = Effect.promise(async () => {
    const [pid, mark = ""] = String((await lines.next()).value).split(" ")
    pids.add(Number(pid))
    return { pid: Number(pid), mark }
  })
  return {
    child,
    next,
    start: (script) =>
      Effect.zipRight(
        Effect.sync(() => child.stdin?.write(`${holding(script)}\n`)),
        next
      ),
    allGone: Effect.promise(() => gone),
    closed: Effect.promise(() => closed)
  }
})
const run = runWith({})

/** How a program ends, when nobody holds its descriptor 3 any more. */
const endOf = (program: string) =>
  new Promise<number | string | null>((resolve) => {
    const child = spawn(process.execPath, [program], { stdio: ["ignore", "inherit", "inherit", "pipe"] })
    child.once("close", (code, signal) => resolve(signal ?? code))
  })

describe("a harness that was killed", () => {
  for (const [kind, script] of Object.entries(kinds)) {
    it.scopedLive(`leaves no command behind: ${kind}`, () =>
      Effect.gen(function* () {
        const { allGone, child, start } = yield* run
        const { mark } = yield* start(script)
        yield* watcherOf(mark)
        child.kill("SIGKILL")
        yield* allGone
        yield* withoutWatcher(mark)
      })
    )
  }

  it.scopedLive("leaves none of many behind, and had one watcher for them all", () =>
    Effect.gen(function* () {
      const { allGone, child, start } = yield* run
      const said = yield* Effect.forEach([...Object.values(kinds), ...Object.values(kinds)], start)
      const [mark = "", ...others] = new Set(said.map((command) => command.mark))
      assert.lengthOf(others, 0)
      const watcher = yield* watcherOf(mark)
      // Who ends the harness and all that descends from it does not end the watcher, which still has to do its work.
      const family = ProcessTable.descendants(ProcessTable.snapshot() ?? [], child.pid!)
      assert.notInclude(
        family.map(({ pid }) => pid),
        watcher
      )
      child.kill("SIGKILL")
      yield* allGone
      yield* withoutWatcher(mark)
    })
  )

  it.runIf(isLinux)("leaves no command behind that nobody has heard of yet", async () => {
    assert.strictEqual(await endOf(killedWhileStarting), "SIGKILL")
  })

  it.scopedLive("is looked after again when somebody killed the watcher", () =>
    Effect.gen(function* () {
      const { allGone, child, start } = yield* run
      const { mark } = yield* start(kinds["without its environment"]!)
      signalled(yield* watcherOf(mark), "SIGKILL")
      yield* withoutWatcher(mark)
      // The first may come before the harness has noticed.
      yield* start(kinds["a plain one"]!)
      yield* start(kinds["a plain one"]!)
      yield* watcherOf(mark)
      child.kill("SIGKILL")
      yield* allGone
    })
  )
})

describe("a harness with terminals that was killed", () => {
  // The end of a shell is the end of its terminal, which what it has just started would not survive.
  const deaf = Object.entries(kinds).map(([kind, script]) => [kind, `trap '' HUP; ${script}`])
  const terminals: typeof kinds = {
    ...Object.fromEntries(deaf),
    "a shell with job control": `${here}; bash --noprofile --norc -i -c 'set -m; sleep 600 & sleep 600'`,
    "that ignores the end of its terminal": `trap '' HUP; ${here}; sleep 600 & env -i sleep 600`
  }
  for (const [kind, script] of Object.entries(terminals)) {
    it.scopedLive(`leaves none behind: ${kind}`, () =>
      Effect.gen(function* () {
        const { allGone, child, start } = yield* runWith({ PTY: "1" })
        const { mark } = yield* start(script)
        yield* watcherOf(mark)
        child.kill("SIGKILL")
        yield* allGone
        yield* withoutWatcher(mark)
      })
    )
  }

  it.scopedLive("or ended in order", () =>
    Effect.gen(function* () {
      const { allGone, child, closed, start } = yield* runWith({ PTY: "1" })
      const [command] = yield* Effect.forEach(Object.values(terminals), start)
      child.stdin?.end()
      assert.strictEqual(yield* closed, 0)
      yield* allGone
      yield* withoutWatcher(command!.mark)
    })
  )
})

describe("a harness inside of another", () => {
  const quoted = (script: string) => `'${script.replaceAll("'", "'\\''")}'`
  const nested = `${here}; exec ${quoted(process.execPath)} "$PROGRAM" ${Object.values(kinds).map(holding).map(quoted).join(" ")}`

  const start = Effect.gen(function* () {
    const outer = yield* run
    const inner = yield* outer.start(nested)
    const [command] = yield* Effect.replicateEffect(outer.next, Object.keys(kinds).length)
    const [outerMark, innerMark = ""] = command!.mark.split(":")
    assert.strictEqual(outerMark, inner.mark)
    yield* watcherOf(innerMark)
    return { ...outer, inner: inner.pid, outerMark: inner.mark, innerMark }
  })

  it.scopedLive("dies with it, and all its commands", () =>
    Effect.gen(function* () {
      const { allGone, child, innerMark, outerMark } = yield* start
      child.kill("SIGKILL")
      yield* allGone
      yield* withoutWatcher(innerMark)
      yield* withoutWatcher(outerMark)
    })
  )

  it.scopedLive("takes its own commands with it and no others", () =>
    Effect.gen(function* () {
      const outer = yield* start
      const other = yield* outer.start(`${here}; exec 9>&-; exec sleep 600`)
      signalled(outer.inner, "SIGKILL")
      yield* outer.allGone
      yield* withoutWatcher(outer.innerMark)
      assert.isTrue(isRunning(other.pid))
      assert.lengthOf(watchers(outer.outerMark), 1)
    })
  )
})

describe("a harness that ends in order", () => {
  it.scopedLive("leaves neither commands nor a watcher behind", () =>
    Effect.gen(function* () {
      const { allGone, child, closed, start } = yield* run
      const [command] = yield* Effect.forEach(Object.values(kinds), start)
      child.stdin?.end()
      assert.strictEqual(yield* closed, 0)
      yield* allGone
      yield* withoutWatcher(command!.mark)
    })
  )

  it("does not go on because of the watcher", async () => {
    assert.strictEqual(await endOf(idle), 0)
  })

  it.scopedLive("keeps nobody waiting who reads what it prints", () =>
    Effect.gen(function* () {
      const { child, closed, start } = yield* run
      const { mark } = yield* start(kinds["a plain one"]!)
      const watcher = yield* watcherOf(mark)
      yield* Effect.acquireRelease(
        Effect.sync(() => signalled(watcher, "SIGSTOP")),
        () => Effect.sync(() => signalled(watcher, "SIGCONT"))
      )
      child.stdin?.end()
      assert.strictEqual(yield* closed, 0)
      assert.deepStrictEqual(watchers(mark), [watcher])
    })
  )
})
