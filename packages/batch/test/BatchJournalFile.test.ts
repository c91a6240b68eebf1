// The journal of a batch, on real files.
import * as BatchJournalFile from "@dsh/batch/BatchJournalFile"
import type { BatchResult } from "@dsh/batch/BatchResult"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const about = { batch: "b", isolate: "none", cwd: "/project" } as const

const result = (id: string, more: Partial<BatchResult> = {}): BatchResult => ({
  id,
  sessionId: `session-${id}`,
  status: "completed",
  finishReason: "completed",
  finalResponse: `done ${id} ✓`,
  usage: { requests: 1, unreported: 0, input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 },
  exitCode: 0,
  attempts: 1,
  durationMs: 1,
  ...more
})

const started = (id: string, attempt = 1) => ({
  id,
  digest: `digest-${id}`,
  attempt,
  sessionId: `session-${id}`,
  messageId: `m-${attempt}`,
  from: 0
})

const file = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "dsh-journal-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
).pipe(Effect.map((folder) => join(folder, "results.jsonl.journal")))

const open = (path: string) => BatchJournalFile.open({ file: path, about })

const resultsOf = ({ results }: BatchJournalFile.Opened) => {
  const found: Array<string> = []
  return Effect.map(
    results(({ id, status }) => found.push(`${id} ${status}`)),
    () => found
  )
}

const lines = (path: string) => readFileSync(path, "utf8").split("\n").slice(0, -1)

describe("a journal in a file", () => {
  it.scoped("knows what was begun and what was finished when it is opened again", () =>
    Effect.gen(function* () {
      const path = yield* file
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { journal } = yield* open(path)
          yield* journal.started(started("a"))
          yield* journal.finished("digest-a", result("a"))
          yield* journal.started(started("b"))
          yield* journal.started(started("b", 2))
          yield* journal.started(started("c"))
          yield* journal.finished("digest-c", result("c", { status: "cancelled", finishReason: "cancelled" }))
        })
      )
      assert.isFalse(existsSync(`${path}.lock`))
      const opened = yield* open(path)
      const { of } = opened.journal
      assert.deepStrictEqual(of("a"), { digest: "digest-a", started: started("a"), isFinished: true })
      assert.deepInclude(of("b"), { isFinished: false })
      assert.strictEqual(of("b")?.started?.attempt, 2)
      assert.deepInclude(of("c"), { isFinished: false })
      assert.strictEqual(of("d"), undefined)
      assert.deepStrictEqual(yield* resultsOf(opened), ["a completed"])
      assert.deepStrictEqual(opened.about, about)
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.scoped("has every line of many who write at once, each of them whole", () =>
    Effect.gen(function* () {
      const path = yield* file
      const { journal } = yield* open(path)
      const ids = Array.from({ length: 200 }, (_, i) => `t${i}`)
      yield* Effect.forEach(
        ids,
        (id) => Effect.zipRight(journal.started(started(id)), journal.finished(`digest-${id}`, result(id))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(lines(path).length, 401)
      for (const line of lines(path)) JSON.parse(line)
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.scoped("loses no more than the line that was not written to its end, wherever that is cut", () =>
    Effect.gen(function* () {
      const path = yield* file
      yield* Effect.scoped(Effect.flatMap(open(path), ({ journal }) => journal.finished("digest-a", result("a"))))
      const whole = readFileSync(path)
      const last = `${JSON.stringify({ type: "finished", time: 1, digest: "digest-b", result: result("b") })}\n`
      const bytes = Buffer.from(last)
      for (let cut = 0; cut < bytes.length; cut += 7) {
        writeFileSync(path, Buffer.concat([whole, bytes.subarray(0, cut)]))
        yield* Effect.scoped(
          Effect.gen(function* () {
            const opened = yield* open(path)
            assert.isUndefined(opened.journal.of("b"))
            assert.isTrue(opened.journal.of("a")?.isFinished)
            yield* opened.journal.finished("digest-c", result("c"))
            assert.deepStrictEqual(yield* resultsOf(opened), ["a completed", "c completed"])
          })
        )
      }
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.scoped("refuses a line in the middle that makes no sense, and names it", () =>
    Effect.gen(function* () {
      const path = yield* file
      yield* Effect.scoped(open(path))
      appendFileSync(path, '{"type":"finished","time":1}\n{"type":"started"}\n')
      const error = yield* Effect.flip(Effect.scoped(open(path)))
      assert.strictEqual(error.code, "JOURNAL_CORRUPT")
      assert.include(error.message, `${path}:2 is no line of a journal`)
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.scoped("is one process's at a time, and follows one that died", () =>
    Effect.gen(function* () {
      const path = yield* file
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* open(path)
          const error = yield* Effect.flip(Effect.scoped(open(path)))
          assert.strictEqual(error.code, "BATCH_IN_USE")
          assert.include(error.message, String(process.pid))
        })
      )
      writeFileSync(`${path}.lock`, `${JSON.stringify({ pid: 2 ** 22 + 1, host: yield* hostname })}\n`)
      yield* Effect.scoped(open(path))
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )
})

const hostname = Effect.map(
  Effect.promise(() => import("node:os")),
  (os) => os.hostname()
)
