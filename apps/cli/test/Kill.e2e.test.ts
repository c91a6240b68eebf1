// kill -9 at random moments: no turn that ended is lost, every log loads and goes on, nothing the model or the world saw is missing from
// it, and no process that a tool started is left. `pnpm test:chaos` does it five hundred times on each store.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ChildProcess } from "node:child_process"
import { existsSync, readdirSync, readlinkSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import * as Chaos from "./support/Chaos.ts"
import * as Workspace from "./support/Workspace.ts"

/** Kills of one session, before the next begins: histories stay short. */
const perSession = 6
/** Shorter than any run, whose last answer alone takes 400 ms. */
const latestKill = 300
/** From a request on: whatever it brings about takes about as long. */
const latestKillAfterRequest = 40
/** Each round changes the world, and leaves something running that does not care about the terminal or its group. */
const command = "echo one >> world; (setsid sleep 300 &) ; sleep 300 & true"

/** Processes that work in a folder. */
const processesIn = (folder: string): ReadonlyArray<number> =>
  readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      return readlinkSync(`/proc/${name}/cwd`).startsWith(folder) ? [Number(name)] : []
    } catch {
      return []
    }
  })

/** Those that are still there when whoever kills them has had its time. */
const orphansIn = async (folder: string): Promise<ReadonlyArray<number>> => {
  // Elsewhere nobody can ask where a process works.
  if (!existsSync("/proc/self/cwd")) return []
  for (let attempt = 0; ; attempt++) {
    const found = processesIn(folder)
    if (found.length === 0 || attempt === 200) return found
    await sleep(25)
  }
}

interface Figures {
  kills: number
  requests: number
  turns: number
  orphans: number
}

/** When a run is killed: so long after its start, or after so many requests. */
const moment = (next: () => number) =>
  next() < 0.4
    ? { requests: 0, millis: Math.floor(next() * latestKill) }
    : { requests: 1 + Math.floor(next() * 4), millis: Math.floor(next() * latestKillAfterRequest) }

const session = (store: string, next: () => number, kills: number, figures: Figures) =>
  Effect.gen(function* () {
    let onRequest = () => {}
    const workspace = yield* Workspace.make(Chaos.script(command, { slow: true, onRequest: () => onRequest() }))
    const env = { DSH_SESSION_STORE: store }
    let id = ""
    let before = ""
    for (let trial = 0; trial <= kills; trial++) {
      const isLast = trial === kills
      const { millis, requests: after } = moment(next)
      const where = `seed ${Chaos.seed}, ${store}, killed ${millis} ms after request ${after}`
      let running: ChildProcess | undefined
      let left = after
      const kill = () => setTimeout(() => running?.kill("SIGKILL"), millis)
      onRequest = () => {
        if (!isLast && --left === 0) kill()
      }
      const args = ["run", "--check-invariants", ...(id === "" ? [] : ["--continue"]), `task ${trial}`]
      const result = yield* workspace.run(args, {
        env,
        onStart: (child) => {
          running = child
          if (!isLast && after === 0) kill()
        }
      })
      if (isLast) assert.strictEqual(result.code, 0, `${where}: ${result.stderr}`)
      else assert.strictEqual(result.signal, "SIGKILL", `the kill came too late; ${where}: ${result.stderr}`)
      if (!isLast) figures.kills++
      const orphans = yield* Effect.promise(() => orphansIn(workspace.project))
      figures.orphans += orphans.length
      assert.deepStrictEqual(orphans, [], `processes are left; ${where}`)

      const listed = yield* workspace.run(["session", "list", "--json"], { env })
      assert.strictEqual(listed.code, 0, listed.stderr)
      if (listed.stdout === "") continue
      id = JSON.parse(listed.stdout).id
      const log = (yield* workspace.run(["session", "export", id], { env })).stdout
      const requests = (yield* workspace.server.requests).length
      Chaos.assertKept(log, { before, requests, project: workspace.project, where })
      const verified = yield* workspace.run(["session", "verify", id], { env })
      assert.strictEqual(verified.code, 0, `${verified.stdout}${verified.stderr}; ${where}`)
      before = log
    }
    const checked = yield* workspace.run(["session", "check", id], { env })
    assert.strictEqual(checked.code, 0, checked.stdout)
    figures.requests += (yield* workspace.server.requests).length
    figures.turns += Chaos.count(before, '"type":"turn/end"')
  }).pipe(Effect.scoped)

describe("kill -9", () => {
  for (const [index, store] of ["jsonl", "sqlite"].entries()) {
    it.live(
      `${Chaos.trials} times, at random, with sessions in ${store}`,
      () =>
        Effect.gen(function* () {
          const next = Chaos.random(Chaos.seed + index)
          const figures: Figures = { kills: 0, requests: 0, turns: 0, orphans: 0 }
          for (let left = Chaos.trials; left > 0; left -= perSession) {
            yield* session(store, next, Math.min(perSession, left), figures)
          }
          yield* Effect.sync(() =>
            process.stdout.write(
              `${store}, seed ${Chaos.seed}: ${figures.kills} kills, ${figures.turns} turns, ${figures.requests} requests; ` +
                `no committed turn lost, every log loads and goes on, ${figures.orphans} orphans\n`
            )
          )
        }),
      120_000 + Chaos.trials * 8000
    )
  }
})
