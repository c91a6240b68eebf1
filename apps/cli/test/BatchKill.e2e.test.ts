// kill -9 at random moments of a batch, and `--resume`: what is finished is not done again, every task has exactly one result, and
// nothing that a tool started is left.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ChildProcess } from "node:child_process"
import { appendFileSync, existsSync, readFileSync, truncateSync } from "node:fs"
import { join } from "node:path"
import * as Batches from "./support/Batches.ts"
import * as Chaos from "./support/Chaos.ts"
import * as Workspace from "./support/Workspace.ts"

interface Trial {
  readonly tasks: number
  readonly concurrency: number
  readonly kills: number
  /** Tools run for each task, and how often the model is asked for it then. */
  readonly rounds: 0 | 1
  readonly seed: number
}

/** What it changes can be counted, and it leaves something running. */
const command = (id: string) => `echo ${id} >> world; (setsid sleep 300 &) ; sleep 300 & true`

const trial = ({ concurrency, kills, rounds, seed, tasks }: Trial) =>
  Effect.gen(function* () {
    const next = Chaos.random(seed)
    const total = tasks * (rounds + 1)
    let onRequest = () => {}
    const workspace = yield* Workspace.make(
      Script.respond((request) => {
        onRequest()
        const id = Batches.taskOf(request)
        const isDone = request.messages.some(({ role }) => role === "tool")
        if (rounds === 1 && !isDone) {
          return Reply.toolCalls([
            { name: "bash", arguments: { command: command(id), description: "Change the world" } }
          ])
        }
        return Reply.text(`done ${id}`)
      })
    )
    const out = join(workspace.project, "r.jsonl")
    const args = ["batch", Batches.file(workspace, tasks), "--concurrency", String(concurrency), "--out", out]
    for (let kill = 0; kill < kills; kill++) {
      const before = Batches.finished(out)
      const asked = yield* Batches.requests(workspace)
      let child: ChildProcess | undefined
      // Of the requests that are left, a part for each kill: some come early in it, some late.
      let left = Math.floor((0.1 + next() * 0.8) * (total / kills)) + 1
      const millis = Math.floor(next() * 30)
      const where = `seed ${seed}, kill ${kill + 1} of ${kills}, ${millis} ms after request ${left}`
      onRequest = () => {
        if (--left === 0) setTimeout(() => child?.kill("SIGKILL"), millis)
      }
      const result = yield* workspace.run([...args, "--resume"], { onStart: (started) => (child = started) })
      assert.strictEqual(result.signal, "SIGKILL", `${where}: ${result.stderr}`)
      onRequest = () => {}
      assert.deepStrictEqual(yield* Effect.promise(() => Batches.orphans(workspace.project)), [], where)
      const now = yield* Batches.requests(workspace)
      for (const id of before)
        assert.strictEqual(now.get(id), asked.get(id), `${id} was finished and is done again; ${where}`)
      // A result is told when it is in the journal, and not before.
      const finished = Batches.finished(out)
      const told = existsSync(out) ? readFileSync(out, "utf8").split("\n").slice(0, -1) : []
      for (const line of told) assert.isTrue(finished.has(JSON.parse(line).id), where)
      if (existsSync(out) && told.length > 0) {
        // As if the last line had not come to its end, or not at all.
        const size = readFileSync(out).length
        truncateSync(out, size - Math.floor(next() * Math.min(size, 40)))
        if (next() < 0.3) appendFileSync(out, '{"id":"t')
      }
      if (next() < 0.5) appendFileSync(`${out}.journal`, '{"type":"finished","time":17')
    }
    const finished = Batches.finished(out)
    const asked = yield* Batches.requests(workspace)
    const last = yield* workspace.run([...args, "--resume"])
    const where = `seed ${seed}: ${last.stderr}`
    assert.strictEqual(last.code, 0, where)
    const results = Batches.results(out)
    assert.strictEqual(results.length, tasks, where)
    assert.strictEqual(new Set(results.map(({ id }) => id)).size, tasks, where)
    for (const { finalResponse, id, status } of results) {
      assert.deepStrictEqual([status, finalResponse], ["completed", `done ${id}`], where)
    }
    const now = yield* Batches.requests(workspace)
    for (const id of finished) assert.strictEqual(now.get(id), asked.get(id), `${id} is done again; ${where}`)
    assert.deepStrictEqual(yield* Effect.promise(() => Batches.orphans(workspace.project)), [], where)
    const again = yield* workspace.run([...args, "--resume"])
    assert.strictEqual(again.code, 0, again.stderr)
    assert.deepStrictEqual(Batches.results(out), results)
    return { requests: [...now.values()].reduce((sum, count) => sum + count, 0), finished: finished.size }
  }).pipe(Effect.scoped)

describe("kill -9 of a batch", () => {
  it.live(
    "of a thousand tasks, a hundred at a time, loses no result and repeats none",
    () =>
      Effect.gen(function* () {
        const { finished, requests } = yield* trial({
          tasks: 1000,
          concurrency: 100,
          kills: 1,
          rounds: 0,
          seed: Chaos.seed
        })
        process.stdout.write(
          `batch, seed ${Chaos.seed}: 1000 tasks, ${finished} finished before the kill, ${requests} requests in all\n`
        )
      }),
    180_000
  )

  const trials = Math.max(1, Math.floor(Chaos.trials / 3))
  it.live(
    `${trials} times over, with tools that change the world`,
    () =>
      Effect.gen(function* () {
        for (let i = 0; i < trials; i++) {
          const seed = Chaos.seed + 1 + i
          const { finished, requests } = yield* trial({ tasks: 12, concurrency: 4, kills: 2, rounds: 1, seed })
          process.stdout.write(`batch, seed ${seed}: 12 tasks, 2 kills, ${finished} finished, ${requests} requests\n`)
        }
      }),
    120_000 + trials * 30_000
  )
})
