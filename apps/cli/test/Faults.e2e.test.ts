// Disks that fail, files that are cut, clocks that go back, writers that meddle: whatever happens to a run, its log loads, no turn that
// ended is lost, and the session goes on. The agent, its tools, its files and its HTTP are real; `pnpm test:chaos` does it many times.
import * as PersistenceJsonl from "@dsh/persistence/PersistenceJsonl"
import * as FaultyFileSystem from "@dsh/testing/FaultyFileSystem"
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Path from "@effect/platform/Path"
import * as Plugin from "@dsh/kernel/Plugin"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import * as InPlace from "@dsh/persistence/InPlace"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Layer, Logger, Redacted } from "effect"
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Writable } from "node:stream"
import * as Headless from "../src/Headless.ts"
import * as Output from "../src/Output.ts"
import type { From } from "../src/Request.ts"
import * as Work from "../src/Work.ts"
import * as Chaos from "./support/Chaos.ts"
import { dsh } from "./support/Dsh.ts"

type Faults = FaultyFileSystem.Faults

const none: Faults = () => undefined

const sink = () => new Writable({ write: (_, __, done) => done() })

const place = Effect.gen(function* () {
  const root = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "dsh-faults-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const [home, cwd] = [join(root, "home"), join(root, "project")]
  const sessions = join(home, "sessions")
  mkdirSync(cwd)
  const server = yield* MockLlm.make({ script: Chaos.script("echo one >> world") })

  const store = (faults: Faults) =>
    PersistenceJsonl.layer({ root: sessions }).pipe(
      Layer.provide(
        Layer.effect(
          FileSystem.FileSystem,
          Effect.map(FileSystem.FileSystem, (fs) => FaultyFileSystem.make(fs, faults))
        )
      ),
      Layer.provide(Layer.provide(InPlace.layer, NodeFileSystem.layer))
    )

  /** One task, in this process, over a disk with these faults. Never takes long, whatever happens. */
  const run = (from: From, faults: Faults = none) =>
    Work.work({ task: "go on", model: undefined, from, cwd }).pipe(
      Effect.scoped,
      Effect.provide(
        Headless.layer({
          permission: "danger-full-access",
          provider: { apiKey: Redacted.make("k"), baseUrl: server.url },
          own: {
            entries: [
              { kind: "change", id: "persistence", changes: { disabled: true } },
              { kind: "insert", rows: [{ id: "faulty-store", name: "faulty-store" }] }
            ],
            plugins: [
              Plugin.make({
                name: "faulty-store",
                provides: [SessionPersistence],
                requires: [Path.Path],
                layer: () => store(faults)
              })
            ]
          },
          checkInvariants: true
        })
      ),
      Effect.provideService(Output.Output, Output.make({ stdout: sink(), stderr: sink() })),
      Effect.provide(Logger.remove(Logger.defaultLogger)),
      Effect.exit,
      // A run that hangs is a defect.
      Effect.timeout("20 seconds"),
      Effect.orDie
    )

  const file = (): string | undefined => {
    if (!existsSync(sessions)) return undefined
    const files = readdirSync(sessions).flatMap((project) =>
      readdirSync(join(sessions, project)).map((id) => join(sessions, project, id, "session.jsonl"))
    )
    return files.find((path) => existsSync(path))
  }
  const log = (): string => {
    const path = file()
    return path === undefined ? "" : readFileSync(path, "utf8")
  }
  const from = (): From => (file() === undefined ? { _tag: "New" } : { _tag: "Last" })

  /** Puts another log in place: from now on nothing counts that it does not know of. */
  let forgotten = 0
  const put = (content: string) =>
    Effect.gen(function* () {
      writeFileSync(file()!, content)
      rmSync(join(cwd, "world"))
      forgotten = (yield* server.requests).length - Chaos.count(content, '"type":"request/sent"')
    })

  /** Nothing is missing, a further task is completed, and the log is sound. */
  const recovers = (before: string, where: string, commands = ["check", "verify"]) =>
    Effect.gen(function* () {
      const settled = log()
      Chaos.assertKept(settled, { before, requests: (yield* server.requests).length - forgotten, project: cwd, where })
      const after = yield* run(from())
      assert.deepStrictEqual(
        Exit.map(after, ({ exitCode }) => exitCode),
        Exit.succeed(0),
        where
      )
      const requests = (yield* server.requests).length - forgotten
      Chaos.assertKept(log(), { before: settled, requests, project: cwd, where })
      const violations = (yield* server.requests).flatMap((request) => request.violations)
      assert.deepStrictEqual(violations, [], where)
      const id = /"id":"(session-[^"]+)"/.exec(log())?.[1] ?? ""
      for (const command of commands) {
        const result = yield* Effect.promise(() => dsh(["session", command, id], { env: { DSH_HOME: home } }))
        assert.strictEqual(result.code, 0, `${result.stdout}${result.stderr}; ${where}`)
      }
    })

  return { run, file, log, from, put, recovers }
})

/** A disk that fails in one way, from one operation on and for a while. */
const badDisk = (next: () => number): { readonly faults: Faults; readonly where: string } => {
  const pick = <A>(...all: ReadonlyArray<A>): A => all[Math.floor(next() * all.length)]!
  const kinds = {
    ENOSPC: ["writeAll", "writeFileString", "makeDirectory"],
    EDQUOT: ["writeAll", "truncate", "sync"],
    EROFS: ["open", "writeAll", "writeFileString", "link", "rename", "remove", "makeDirectory", "truncate"],
    EACCES: ["open", "link", "makeDirectory", "remove", "rename", "readFile"],
    EIO: ["sync", "truncate", "readFile", "writeAll"]
  }
  const code = pick(...(Object.keys(kinds) as ReadonlyArray<keyof typeof kinds>))
  const [first, length] = [Math.floor(next() * 40), pick(1, 2, 5, Number.POSITIVE_INFINITY)]
  const partial = Math.floor(next() * 400)
  let n = 0
  const faults: Faults = (operation) => {
    const fails = kinds[code].includes(operation) && n >= first && n < first + length
    n++
    return fails ? { code, partial } : undefined
  }
  return { faults, where: `${code} from operation ${first}, ${length} of them` }
}

const few = Math.max(1, Math.ceil(Chaos.trials / 8))
const some = Math.max(1, Math.ceil(Chaos.trials / 3))

describe(`faults, seed ${Chaos.seed}`, () => {
  const long = 60_000 + Chaos.trials * 4000

  it.live(
    `${some} disks that are full, read-only, forbidden or broken, for a while`,
    () =>
      Effect.gen(function* () {
        const next = Chaos.random(Chaos.seed)
        for (let trial = 0; trial < some; trial++) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const { from, log, recovers, run } = yield* place
              if (next() < 0.5) yield* run(from())
              const before = log()
              const { faults, where } = badDisk(next)
              yield* run(from(), faults)
              yield* recovers(before, `seed ${Chaos.seed}, trial ${trial}: ${where}`)
            })
          )
        }
      }),
    long
  )

  it.live(
    `${few} logs that are cut at a byte of their last record, and one at every byte`,
    () =>
      Effect.gen(function* () {
        const next = Chaos.random(Chaos.seed + 1)
        yield* Effect.scoped(
          Effect.gen(function* () {
            const { from, log, put, recovers, run } = yield* place
            yield* run(from())
            const whole = log()
            const start = whole.lastIndexOf("\n", whole.length - 2) + 1
            const cuts = Array.from({ length: whole.length - start }, (_, i) => start + i)
            const chosen = Chaos.trials > 100 ? cuts : cuts.filter(() => next() < few / cuts.length)
            for (const cut of chosen) {
              yield* put(whole.slice(0, cut))
              yield* recovers("", `seed ${Chaos.seed}, cut at ${cut} of ${whole.length}`)
            }
          })
        )
      }),
    long
  )

  it.live(
    `${few} clocks that go back`,
    () =>
      Effect.gen(function* () {
        const next = Chaos.random(Chaos.seed + 2)
        for (let trial = 0; trial < few; trial++) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const { from, log, recovers, run } = yield* place
              yield* run(from())
              const before = log()
              const clock = yield* Effect.clock
              let offset = 0
              const now = () => clock.unsafeCurrentTimeMillis() - (offset += Math.floor(next() * 86_400_000))
              const back: Clock.Clock = Object.create(clock, {
                unsafeCurrentTimeMillis: { value: now },
                currentTimeMillis: { value: Effect.sync(now) }
              })
              const exit = yield* Effect.withClock(run(from()), back)
              assert.isTrue(Exit.isSuccess(exit))
              yield* recovers(before, `seed ${Chaos.seed}, clock ${trial}`)
            })
          )
        }
      }),
    long
  )

  it.live(
    `${few} writers that write to a log in use, and as many that ask`,
    () =>
      Effect.gen(function* () {
        const next = Chaos.random(Chaos.seed + 3)
        for (let trial = 0; trial < few; trial++) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const { file, from, log, recovers, run } = yield* place
              yield* run(from())
              const before = log()
              let n = Math.floor(next() * 12)
              // In the middle of the run: while it is about to append.
              const meddling: Faults = (operation) => {
                if (operation === "sync" && n-- === 0) appendFileSync(file()!, before.split("\n")[1]!.concat("\n"))
                return undefined
              }
              const [one, other] = yield* Effect.all([run(from(), meddling), run(from())], { concurrency: 2 })
              assert.isFalse(Exit.isSuccess(one) && Exit.isSuccess(other), "both had the session")
              // What was written between the lines is read over, and taken away by a repair.
              yield* recovers(before, `seed ${Chaos.seed}, writer ${trial}`, ["verify", "repair", "check", "verify"])
            })
          )
        }
      }),
    long
  )
})
